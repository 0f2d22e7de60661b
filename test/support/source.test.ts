import { describe, expect, it } from 'vitest';
import { hasCode, importsIn, packageOf, reachableFrom, type SourceFile } from './source.ts';

describe('imports of a file', () => {
  it.each<[text: string, says: string]>([
    ["import { a } from './b.ts';", 'src/x/b.ts: a'],
    ["import type { A } from '../b.ts';", 'src/b.ts, types'],
    ["import { type A, type B } from './b.ts';", 'src/x/b.ts, types'],
    ["import { type A, b as c } from './b.ts';", 'src/x/b.ts: b'],
    ["import {\n  a,\n  b,\n} from './b.ts';", 'src/x/b.ts: a b'],
    ["import './b.ts';", 'src/x/b.ts'],
    ["import * as all from 'cdk8s';", 'cdk8s: *'],
    ["export type { A } from './b.ts';", 'src/x/b.ts, types'],
    ["export { a } from './b.ts';", 'src/x/b.ts: a'],
    ["const late = await import('./b.ts');", 'src/x/b.ts'],
    ["const text = `\nimport { a } from './b.ts';`;", ''],
    [
      "import { a } from './b.ts';\nexport type { C } from './c.ts';\nexport type D = 'd';\nexport function f() {\nimport { no } from 'text'",
      'src/x/b.ts: a; src/x/c.ts, types',
    ],
  ])('%j', (text, says) => {
    const described = importsIn('src/x/a.ts', text).map(
      ({ target, typeOnly, names }) =>
        target + (typeOnly ? ', types' : '') + (names.length ? `: ${names.join(' ')}` : ''),
    );
    expect(described.join('; ')).toBe(says);
  });

  it('tell a package from the path inside it', () => {
    expect(['@a/b/c', 'a/b', 'node:fs'].map(packageOf)).toEqual(['@a/b', 'a', 'node:fs']);
  });
});

it('reaches what runs, over files and not over types', () => {
  const sources = new Map<string, SourceFile>();
  for (const [path, text] of [
    ['a.ts', "import { b } from './b.ts';\nimport type { D } from './d.ts';"],
    ['b.ts', "import { c } from './c.ts';"],
    ['c.ts', "import { a } from './a.ts';"],
    ['d.ts', ''],
  ] as const) {
    sources.set(path, { path, text, imports: importsIn(path, text) });
  }
  expect([...reachableFrom(['a.ts'], sources)]).toEqual(['a.ts', 'b.ts', 'c.ts']);
  expect([...reachableFrom(['a.ts'], sources, (from) => from !== 'b.ts')]).toEqual(['a.ts', 'b.ts']);
});

it('knows a file of types by its text', () => {
  const types =
    "/** All. */\nimport type { A } from './b.ts';\n\nexport interface B {\n  readonly a: A;\n}\n\nexport type C = 'a' | 'b';\n";
  expect(hasCode(fileOf(types))).toBe(false);
  for (const code of [
    'export const a = 1;',
    'function f() {}',
    'export async function f() {}',
    'main();',
    'class A {}',
  ]) {
    expect([code, hasCode(fileOf(types + code))]).toEqual([code, true]);
  }
});

function fileOf(text: string): SourceFile {
  return { path: 'a.ts', text, imports: [] };
}
