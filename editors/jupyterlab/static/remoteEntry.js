// Colours and indentation of Weft in JupyterLab and Jupyter Notebook.
//
// A prebuilt extension is a container of webpack's module federation: an object with `init`, which
// gets the modules that the application shares, and `get`, which gives a module of the extension.
// That is little enough to be written by hand, so nothing has to be built.
(() => {
  'use strict';

  // The words of the language; `weft-pygments` has the same ones, and a test compares them.
  const KEYWORDS = new Set(
    'def type import let in if then else loop for while do with by'.split(' ')
  );
  const CONSTANTS = new Set('true false nan inf pi'.split(' '));
  const TYPES = new Set(
    ('i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool char seq window1 window2 window3').split(' ')
  );

  const WORD = /^[\p{L}_][\p{L}\p{N}\p{M}_']*/u;
  const NUMBER =
    /^(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9_]+)?)(?:[iu](?:8|16|32|64)|f(?:32|64))?/;
  const CHARACTER = /^'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|.))'/u;
  const OPERATOR = /^(?:\.[|^&]\.|\|>|<\||\|\||&&|==|!=|<=|>=|<<|>>|\.\.|\+\+|\*\*|\/\/|->|[-+*/%<>!\\])/;

  // Strings end with their line; block comments nest.
  function comment(stream, state) {
    while (!stream.eol()) {
      if (stream.match('{-')) {
        state.depth += 1;
      } else if (stream.match('-}')) {
        state.depth -= 1;
        if (state.depth === 0) {
          break;
        }
      } else {
        stream.next();
      }
    }
    return 'comment';
  }

  function text(stream) {
    let escaped = false;
    while (!stream.eol()) {
      const character = stream.next();
      if (character === '"' && !escaped) {
        break;
      }
      escaped = character === '\\' && !escaped;
    }
    return 'string';
  }

  function token(stream, state) {
    if (state.depth > 0) {
      return comment(stream, state);
    }
    const isFirst = !state.begun;
    state.begun = true;
    if (isFirst && stream.match('#!')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.sol() && stream.match(/^:[a-z]*/)) {
      return 'meta';
    }
    if (stream.eatSpace()) {
      return null;
    }
    if (stream.match('--')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match('{-')) {
      state.depth = 1;
      return comment(stream, state);
    }
    if (stream.match('"')) {
      return text(stream);
    }
    if (stream.match(CHARACTER)) {
      return 'string';
    }
    if (stream.match(NUMBER)) {
      return 'number';
    }
    if (stream.match(/^\.(?=[\p{L}_0-9])/u)) {
      stream.match(WORD) || stream.match(/^[0-9]+/);
      return 'propertyName';
    }
    const word = stream.match(WORD);
    if (word) {
      if (KEYWORDS.has(word[0])) {
        state.defines = word[0] === 'def';
        return 'keyword';
      }
      const defined = state.defines;
      state.defines = false;
      if (CONSTANTS.has(word[0])) {
        return 'atom';
      }
      if (TYPES.has(word[0])) {
        return 'typeName';
      }
      return defined ? 'variableName.definition' : 'variableName';
    }
    if (stream.match(OPERATOR)) {
      return 'operator';
    }
    if (stream.match(/^[()[\]{}]/)) {
      return 'bracket';
    }
    stream.next();
    return 'punctuation';
  }

  // What goes on in the line below: an opener, an operator, or a word behind which something stands.
  const GOES_ON = /(?:[([{=+*%<>|&\\\-]|\/\/?|(?:^|[^\p{L}\p{N}_'])(?:in|then|else|do|let))$/u;

  // The indentation of a line behind a break: below the first name of a `let` that has no `in` yet, deeper behind what goes on,
  // otherwise that of the line above (which is what nothing means).
  function indent(state, after, context) {
    const at = context.options?.simulateBreak;
    if (at === undefined || at === null || state.depth > 0) {
      return null;
    }
    const line = context.lineAt(at, -1).text.replace(/\s--.*$/, '').trimEnd();
    const names = /^(.*(?:^|[^\p{L}\p{N}_'])let\s+)(?=\S)(?!.*\sin(?:\s|$))/u.exec(line);
    if (names && !GOES_ON.test(line)) {
      return names[1].length;
    }
    const own = /^\s*/.exec(line)[0].length;
    return GOES_ON.test(line) ? own + 2 : null;
  }

  const mode = {
    name: 'weft',
    startState: () => ({ depth: 0, defines: false, begun: false }),
    copyState: state => ({ ...state }),
    token,
    indent,
    languageData: {
      commentTokens: { line: '--', block: { open: '{-', close: '-}' } },
      closeBrackets: { brackets: ['(', '[', '{', '"'] },
      indentOnInput: /^\s*(?:[)\]}]|in|then|else|do)$/
    }
  };

  let shared = {};

  // A module that the application shares; of several versions any will do.
  async function use(name) {
    const version = Object.values(shared[name] ?? {})[0];
    if (version === undefined) {
      throw new Error(`the application does not share ${name}`);
    }
    return (await version.get())();
  }

  async function extension() {
    const { IEditorLanguageRegistry } = await use('@jupyterlab/codemirror');
    const plugin = {
      id: 'weft-jupyterlab:language',
      description: 'Colours of Weft.',
      autoStart: true,
      requires: [IEditorLanguageRegistry],
      activate: (app, languages) => {
        languages.addLanguage({
          name: 'weft',
          displayName: 'Weft',
          mime: 'text/x-weft',
          extensions: ['weft'],
          load: async () => {
            const { LanguageSupport, StreamLanguage } = await use('@codemirror/language');
            return new LanguageSupport(StreamLanguage.define(mode));
          }
        });
        app.docRegistry.addFileType({
          name: 'weft',
          displayName: 'Weft',
          extensions: ['.weft'],
          mimeTypes: ['text/x-weft'],
          contentType: 'file',
          fileFormat: 'text'
        });
      }
    };
    return { __esModule: true, default: [plugin] };
  }

  const container = {
    init: scope => {
      shared = scope;
    },
    get: async name => {
      if (name !== './extension') {
        throw new Error(`there is no ${name} here`);
      }
      const module = await extension();
      return () => module;
    }
  };

  // Where the application looks; a test that runs without a browser looks there too.
  const registry = (globalThis._JUPYTERLAB = globalThis._JUPYTERLAB ?? {});
  registry['weft-jupyterlab'] = container;
})();
