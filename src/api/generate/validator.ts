/** `src/api/generated/validators/<kind>.js`: standalone ajv validators that decide as the API server does, except for CEL. */
import { _, Ajv, type CodeKeywordDefinition, type KeywordCxt, type Name, stringify } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Kind } from '../kinds/kind.ts';
import { duplicateOf, re2 } from '../validation/runtime.ts';
import { type GeneratedFile, HEADER } from './file.ts';
import { KNOWN, validationSchema } from './validation-schema.ts';

const FOLDER = 'src/api/generated/validators';

/** Functions of validation/runtime.ts that the generated code calls. */
const RUNTIME = '{ duplicateOf, lengthOf, re2 }';

/** JavaScript, because Node takes four times as long to load the same code as TypeScript. */
export function validatorFiles(kinds: readonly Kind[]): readonly GeneratedFile[] {
  return [
    ...kinds.flatMap((kind) => [codeFile(kind), declarationFile(kind)]),
    { path: `${FOLDER}/index.ts`, text: indexOf(kinds) },
  ];
}

/** The functions that it calls are arguments, so that it imports nothing and is compiled only when needed. */
function codeFile(kind: Kind): GeneratedFile {
  const ajv = newAjv();
  const code = shorter(standalone.default(ajv, ajv.compile(validationSchema(kind))));
  const required = /require\([^)]*\)/.exec(code);
  if (required) {
    throw new Error(`the validator of ${kind.kind} needs ${required[0]}, which validation/runtime.ts lacks`);
  }
  const name = /^export const validate = (?<name>validate\d+);$/m.exec(code)?.groups?.['name'];
  const body = code.replace(/^export const validate = .*\n/m, '');
  const text = `${HEADER}\nexport function make(${RUNTIME}) {\n${body}return ${name};\n}\n`;
  return { path: `${FOLDER}/${kind.kind.toLowerCase()}.js`, text };
}

function declarationFile({ kind }: Kind): GeneratedFile {
  const text = `${HEADER}
import type { Runtime, Validate } from '../../validation/runtime.ts';

export declare function make(runtime: Runtime): Validate;
`;
  return { path: `${FOLDER}/${kind.toLowerCase()}.d.ts`, text };
}

function indexOf(kinds: readonly Kind[]): string {
  const imports = kinds.map(({ kind }) => `import * as ${kind} from './${kind.toLowerCase()}.js';\n`);
  const entries = kinds.map(({ kind }) => `  ['${kind}', ${kind}.make],\n`);
  return [
    `${HEADER}\n`,
    ...imports.toSorted(),
    "import type { Make } from '../../validation/runtime.ts';\n",
    '\nexport const MAKERS: ReadonlyMap<string, Make> = new Map([\n',
    ...entries,
    ']);\n',
  ].join('');
}

/** Shortens the seven lines that ajv writes for each error to one, and replaces its helpers, which would need imports. */
function shorter(code: string): string {
  return code
    .replace('"use strict";\n', '')
    .replace(/export default \w+;\n?/, '')
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'lengthOf')
    .replaceAll(
      /const (err\d+) = (\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n/g,
      (_match, _name, error: string) => `(vErrors ??= []).push(${withoutPlace(error)});\n`,
    );
}

/** The schema path of an error is needed for branches of `oneOf` only. */
function withoutPlace(error: string): string {
  return error.replace(/schemaPath:"(?![^"]*\/oneOf\/)[^"]*",/, '');
}

function newAjv(): Ajv {
  const regExp = Object.assign(re2, { code: 're2' });
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    allErrors: true,
    messages: false,
    inlineRefs: false,
    code: { source: true, esm: true, lines: true, regExp },
  });
  ajv.addKeyword(LIST_MAP_KEYS);
  ajv.addKeyword(KNOWN_FIELDS);
  return ajv;
}

const LIST_MAP_KEYS: CodeKeywordDefinition = {
  keyword: 'x-kubernetes-list-map-keys',
  type: 'array',
  schemaType: 'array',
  error: { message: 'duplicate', params: ({ params }) => _`{ index: ${params['index']} }` },
  code(cxt: KeywordCxt) {
    const { gen, data } = cxt;
    const call = gen.scopeValue('func', { ref: duplicateOf, code: _`duplicateOf` });
    const index = gen.const('duplicate', _`${call}(${data}, ${stringify(cxt.schema)})`);
    cxt.setParams({ index });
    cxt.fail(_`${index} !== -1`);
  },
};

/** As `additionalProperties: false`, but reports the known fields, for suggestions. */
const KNOWN_FIELDS: CodeKeywordDefinition = {
  keyword: KNOWN,
  type: 'object',
  schemaType: 'array',
  error: {
    message: 'unknown',
    params: ({ params }) => _`{ field: ${params['field']}, known: ${params['known']} }`,
  },
  code(cxt: KeywordCxt) {
    const { gen, data } = cxt;
    const known = gen.const('known', stringify(cxt.schema));
    gen.forIn('field', data, (field: Name) => {
      cxt.setParams({ field, known });
      gen.if(_`!${known}.includes(${field})`, () => cxt.error());
    });
  },
};
