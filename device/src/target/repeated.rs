//! What loops repeat, as graphs (Note [Matched replay]), and the buffers that their turns take
//! (Note [Turns take the same buffers]).

use weft_cuda::Broken;

use super::{DeviceTarget, SLICE};
use crate::driver::Work;
use crate::graphs::{Asked, Matched, Operation};
use crate::streams::FIRST;
use crate::words::Failure;

impl DeviceTarget<'_> {
    /// Does what is asked for, at once or as part of a graph (Note [Matched replay]).
    pub(super) fn perform(&mut self, asked: Asked<'_>) -> Result<(), Broken> {
        self.bring_inputs_of(&asked)?;
        if self.streams.is_on() {
            return self.queue_ordered(&asked);
        }
        if !self.ways.graphs || !self.spare.is_in_loop() {
            return self.queue(asked.work, asked.parameters);
        }
        let mut matched = self.graphs.matched(&asked, &self.own);
        if matched == Matched::No && self.graphs.is_begun() {
            self.do_waiting()?;
            matched = self.graphs.matched(&asked, &self.own);
        }
        match matched {
            Matched::Part => Ok(()),
            Matched::Whole => self.launch_graph(),
            Matched::No => {
                self.queue(asked.work, asked.parameters)?;
                self.graphs.note(&asked, &self.own);
                Ok(())
            }
        }
    }

    /// Queues work in the stream of its kernel.
    pub(super) fn queue(&mut self, work: Work, parameters: &[Vec<u8>]) -> Result<(), Broken> {
        let queued = self.state.driver.queue(work, parameters, self.streams.current());
        self.checked(queued)?;
        self.queued(usize::from(matches!(work, Work::Kernel { .. })))
    }

    /// So many kernels more are queued.
    fn queued(&mut self, kernels: usize) -> Result<(), Broken> {
        let slice = self.launched / SLICE;
        self.launched += kernels;
        if self.launched / SLICE > slice {
            let mark = self.mark_queued()?;
            self.slices.push_back(mark);
            if self.slices.len() > 1 {
                self.wait_until(|target| target.state.driver.has_passed(&target.slices[0]))?;
                if let Some(mark) = self.slices.pop_front() {
                    self.state.driver.forget(mark);
                }
            }
        }
        Ok(())
    }

    fn launch_graph(&mut self) -> Result<(), Broken> {
        let launched = self.graphs.launch(&self.state.driver);
        match self.unless_impossible(launched)? {
            Some(kernels) => {
                self.traffic.graphs += 1;
                self.traffic.in_graphs += kernels as u64;
                self.queued(kernels)
            }
            None => self.do_waiting(),
        }
    }

    /// Queues what waits for the rest of its graph, one after the other.
    fn do_waiting(&mut self) -> Result<(), Broken> {
        for Operation { work, parameters, .. } in self.graphs.take_begun(&self.state.driver) {
            self.queue(work, &parameters)?;
        }
        Ok(())
    }

    /// A unit of what may repeat itself ends.
    fn end_unit(&mut self) -> Result<(), Broken> {
        if self.ways.graphs {
            let ended = self.graphs.end_unit(&self.state.driver);
            self.unless_impossible(ended)?;
        }
        Ok(())
    }

    /// Somebody does something else with the device than what is part of graphs.
    pub(super) fn end_stretch(&mut self) -> Result<(), Broken> {
        if self.ways.graphs && self.spare.is_in_loop() {
            self.do_waiting()?;
            let ended = self.graphs.end_stretch(&self.state.driver);
            self.unless_impossible(ended)?;
        }
        Ok(())
    }

    /// Takes what a call about graphs says. If the driver has no room for graphs, or cannot do them, there are none
    /// any more in this run.
    fn unless_impossible<T>(&mut self, result: Result<T, Failure>) -> Result<Option<T>, Broken> {
        match result {
            Err(failure) if failure.is_memory() || failure.is_unsupported() => {
                self.ways.graphs = false;
                Ok(None)
            }
            result => self.checked(result).map(Some),
        }
    }

    /// Gives buffers back to the driver that were kept for turns of loops.
    pub(super) fn give_back(&mut self, addresses: Vec<u64>) -> Result<(), Broken> {
        if !addresses.is_empty() {
            self.do_waiting()?;
        }
        for address in addresses {
            self.graphs.forget_buffer(address, &self.state.driver);
            let freed = self.state.driver.free(address, FIRST);
            self.checked(freed)?;
        }
        Ok(())
    }

    pub(super) fn loop_begins(&mut self, number: usize) -> Result<(), Broken> {
        // If there are no graphs any more, loops inside of one still end as they have begun.
        if !self.ways.graphs && !self.spare.is_in_loop() {
            return Ok(());
        }
        if !self.spare.is_in_loop() {
            self.bring_all_inputs()?;
            self.leave_streams()?;
        }
        self.spare.begin_loop(number);
        self.end_unit()
    }

    pub(super) fn turn_ends(&mut self) -> Result<(), Broken> {
        if !self.spare.is_in_loop() {
            return Ok(());
        }
        let stale = self.spare.end_turn();
        self.give_back(stale)?;
        self.end_unit()
    }

    pub(super) fn loop_ends(&mut self) -> Result<(), Broken> {
        if !self.spare.is_in_loop() {
            return Ok(());
        }
        let unused = self.spare.end_loop();
        if self.spare.is_in_loop() {
            return self.end_unit();
        }
        self.do_waiting()?;
        self.graphs.clear(&self.state.driver);
        self.give_back(unused)
    }
}
