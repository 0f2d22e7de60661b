import { describe, expect, it } from 'vitest';
import { declarationsIn } from '../../../../../src/cli/commands/component/source/declarations.ts';
import { findComponent } from '../../../../../src/cli/commands/component/source/find.ts';

const declare = (versions: string): string => `const a = componentReleases({
  component: 'web',
  url: '',
  versions: ${versions},
});`;

describe('findComponent', () => {
  it.each([
    [
      'not declared',
      "const a = componentReleases({ component: 'other', versions: {} });",
      undefined,
      'the repository declares no releases of web',
    ],
    [
      'declared in a comment only',
      `/* ${declare('{}')} */`,
      undefined,
      'the repository declares no releases of web',
    ],
    [
      'declared by a variable',
      'const a = componentReleases({ component: WEB, versions: {} });',
      undefined,
      'the repository declares no releases of web',
    ],
    [
      'declared twice',
      `${declare('{}')}\n${declare('{}')}`,
      'a.ts:1',
      'web is declared more than once: a.ts:1, a.ts:6',
    ],
    [
      'selected twice',
      `${declare('{}')}\nconst versions = { web: '1' };\nconst versions = { web: '2' };`,
      'a.ts:6',
      'web is selected more than once: a.ts:6, a.ts:7',
    ],
    ['with versions elsewhere', declare('all'), 'a.ts:1', 'expected versions: {'],
    ['with a spread', declare("{\n...old,\n'1.0.0': {},\n}"), 'a.ts:5', 'expected versions: {'],
    [
      'with versions on one line',
      declare("{ '1.0.0': {} }"),
      'a.ts:4',
      'each version must begin on a line of its own',
    ],
    [
      'with a brace beside a version',
      declare("{\n'1.0.0': {} }"),
      'a.ts:5',
      'each version must begin on a line of its own',
    ],
    [
      'with a selection that is computed',
      `${declare('{}')}\nconst versions: Versions = { web: pick() };`,
      'a.ts:6',
      'expected the version of web as a plain string',
    ],
  ])('refuses a component that is %s', (_, text, where, because) => {
    const { refused } = findComponent(declarationsIn([{ path: 'a.ts', text }]), 'web');
    expect(refused?.because).toContain(because);
    expect(refused?.where).toBe(where);
    expect(refused?.hint).not.toBe('');
  });

  it('finds declaration and selection in different files', () => {
    const { found } = findComponent(
      declarationsIn([
        { path: 'a.ts', text: declare('{}') },
        {
          path: 'b.ts',
          text: "const other = { web: '3' };\nexport const versions: Versions = {\n  'web': \"1.0.0\",\n} as const;",
        },
      ]),
      'web',
    );
    expect(found?.selection).toMatchObject({ version: '1.0.0', source: { path: 'b.ts' } });
  });
});
