import { describe, expect, it } from 'vitest';
import { hasCode, importCircles, importsIn, packageOf, reachableFrom, type SourceFile } from './source.ts';

describe('importsIn', () => {
  it.each<[text: string, expected: string]>([
    ["import { a } from './b.ts';", 'src/x/b.ts: a'],
    ["import type { A } from '../b.ts';", 'src/b.ts, types'],
    ["import { type A, type B } from './b.ts';", 'src/x/b.ts, types'],
    ["import { type A, b as c } from './b.ts';", 'src/x/b.ts: b'],
    ["import {\n  a,\n  b,\n} from './b.ts';", 'src/x/b.ts: a b'],
    ["import './b.ts';", 'src/x/b.ts'],
    ["import * as all from 'cdk8s';", 'cdk8s: *'],
    ["export type { A } from './b.ts';", 'src/x/b.ts, types'],
    ["export { a } from './b.ts';", 'src/x/b.ts: a'],
    ["export type * from './b.ts';\nexport { c } from './c.ts';", 'src/x/b.ts, types; src/x/c.ts: c'],
    ["const late = await import('./b.ts');", 'src/x/b.ts'],
    ["const text = `\nimport { a } from './b.ts';`;", ''],
    [
      "import { a } from './b.ts';\nexport type { C } from './c.ts';\nexport type D = 'd';\nexport function f() {\nimport { no } from 'text'",
      'src/x/b.ts: a; src/x/c.ts, types',
    ],
  ])('describes %j', (text, expected) => {
    const described = importsIn('src/x/a.ts', text).map(
      ({ target, typeOnly, names }) =>
        target + (typeOnly ? ', types' : '') + (names.length ? `: ${names.join(' ')}` : ''),
    );
    expect(described.join('; ')).toBe(expected);
  });

  it('leaves the name of a package without the path inside it', () => {
    expect(['@a/b/c', 'a/b', 'node:fs'].map(packageOf)).toEqual(['@a/b', 'a', 'node:fs']);
  });
});

it('reaches the files that run, and not those of types', () => {
  const sources = sourcesOf({
    'a.ts': "import { b } from './b.ts';\nimport type { D } from './d.ts';",
    'b.ts': "import { c } from './c.ts';",
    'c.ts': "import { a } from './a.ts';",
    'd.ts': '',
  });
  expect([...reachableFrom(['a.ts'], sources)]).toEqual(['a.ts', 'b.ts', 'c.ts']);
  expect([...reachableFrom(['a.ts'], sources, (from) => from !== 'b.ts')]).toEqual(['a.ts', 'b.ts']);
});

it('finds import circles, type-only imports included', () => {
  const sources = sourcesOf({
    'a.ts': "import type { B } from './b.ts';",
    'b.ts': "import { a } from './a.ts';\nimport { c } from './c.ts';",
    'c.ts': "import { d } from './d.ts';",
    'd.ts': "import { e } from './e.ts';",
    'e.ts': "import { c } from './c.ts';",
    'f.ts': "import { a } from './a.ts';",
  });
  expect(importCircles(sources)).toEqual([
    ['a.ts', 'b.ts'],
    ['c.ts', 'd.ts', 'e.ts'],
  ]);
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

function sourcesOf(texts: Readonly<Record<string, string>>): ReadonlyMap<string, SourceFile> {
  const files = Object.entries(texts).map(([path, text]) => ({ path, text, imports: importsIn(path, text) }));
  return new Map(files.map((file) => [file.path, file]));
}

function fileOf(text: string): SourceFile {
  return { path: 'a.ts', text, imports: [] };
}
