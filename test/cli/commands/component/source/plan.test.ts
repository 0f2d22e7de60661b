import { describe, expect, it } from 'vitest';
import { declarationsIn } from '../../../../../src/cli/commands/component/source/declarations.ts';
import { applyEdits } from '../../../../../src/cli/commands/component/source/edit.ts';
import { findComponent } from '../../../../../src/cli/commands/component/source/find.ts';
import { type NewRelease, planReleaseEdits } from '../../../../../src/cli/commands/component/source/plan.ts';

const NEW: NewRelease = {
  version: '1.2.0',
  digests: { amd64: 'new-amd64', arm64: 'new-arm64' },
  select: true,
};

/** The file of a component with the text as its versions. */
function declare(versions: string, eol = '\n'): string {
  return [
    "import { componentReleases } from 'kubenode/constructs';",
    'export const webReleases = componentReleases({',
    "  component: 'web', // versions: { '0.0.0': {} },",
    "  url: 'https://example.com/{version}/{arch}',",
    `  versions: ${versions.replaceAll('\n', eol)},`,
    '});',
    '',
  ].join(eol);
}

const SELECTED = "export const versions = {\n  web: '1.1.0',\n  other: '1.1.0',\n} as const;\n";

interface Planned {
  readonly because: string;
  readonly where?: string;
  readonly 'web.ts'?: string;
  readonly 'versions.ts'?: string;
}

/** The file of the component and the selection after the change, or why it is refused. */
function plan(web: string, release: Partial<NewRelease> = {}, selected = SELECTED): Planned {
  const sources = [
    { path: 'web.ts', text: web },
    { path: 'versions.ts', text: selected },
  ];
  const { found, refused } = findComponent(declarationsIn(sources), 'web');
  if (!found) return { because: refused.because, where: refused.where ?? '' };
  const planned = planReleaseEdits(found, { ...NEW, ...release });
  if (planned.refused) return { because: planned.refused.because, where: planned.refused.where ?? '' };
  const textOf = (path: string, text: string): string =>
    applyEdits(
      text,
      planned.edits.filter((edit) => edit.path === path),
    );
  return {
    'web.ts': textOf('web.ts', web),
    'versions.ts': textOf('versions.ts', selected),
    because: planned.edits.map((edit) => `${edit.path}: ${edit.because}`).join('; '),
  };
}

const ENTRY = "    '1.2.0': {\n      amd64: 'new-amd64',\n      arm64: 'new-arm64',\n    },\n";
const entryOf = (version: string): string =>
  `    '${version}': {\n      amd64: 'a',\n      arm64: 'b',\n    },\n`;

/** The file of a component with these versions. */
function declareAll(versions: readonly string[]): string {
  return declare(`{\n${versions.map((each) => (each === '1.2.0' ? ENTRY : entryOf(each))).join('')}  }`);
}

describe('a new release', () => {
  it('is one entry and one changed line', () => {
    const before = declare(`{\n${entryOf('1.1.0')}${entryOf('1.0.0')}  }`);
    expect(plan(before)).toEqual({
      'web.ts': declare(`{\n${ENTRY}${entryOf('1.1.0')}${entryOf('1.0.0')}  }`),
      'versions.ts': SELECTED.replace("web: '1.1.0'", "web: '1.2.0'"),
      because: 'versions.ts: selects 1.2.0 instead of 1.1.0; web.ts: declares release 1.2.0',
    });
  });

  it.each([
    ['before all, newest first', ['1.1.0', '1.0.0'], ['1.2.0', '1.1.0', '1.0.0']],
    ['between two, by number', ['1.10.0', '1.1.0'], ['1.10.0', '1.2.0', '1.1.0']],
    ['after all, newest first', ['1.4.0', '1.3.0'], ['1.4.0', '1.3.0', '1.2.0']],
    ['after all, oldest first', ['1.0.0', '1.1.0'], ['1.0.0', '1.1.0', '1.2.0']],
    ['between two, oldest first', ['1.1.0', '1.10.0'], ['1.1.0', '1.2.0', '1.10.0']],
    ['before its own pre-release', ['1.2.0-rc.1', '1.1.0'], ['1.2.0', '1.2.0-rc.1', '1.1.0']],
    ['before the only one', ['1.1.0'], ['1.2.0', '1.1.0']],
  ])('is inserted %s', (_, before, after) => {
    expect(plan(declareAll(before), { select: false })['web.ts']).toBe(declareAll(after));
  });

  it.each([
    ['an empty object', '{}', `{\n${ENTRY}  }`],
    [
      'double quotes and tabs',
      '{\n\t\t"1.1.0": {\n\t\t\tamd64: "a",\n\t\t},\n\t}',
      '{\n\t\t"1.2.0": {\n\t\t\tamd64: "new-amd64",\n\t\t\tarm64: "new-arm64",\n\t\t},\n\t\t"1.1.0": {\n\t\t\tamd64: "a",\n\t\t},\n\t}',
    ],
    [
      'entries of one line',
      "{\n    '1.1.0': { amd64: 'a' },\n  }",
      "{\n    '1.2.0': { amd64: 'new-amd64', arm64: 'new-arm64' },\n    '1.1.0': { amd64: 'a' },\n  }",
    ],
    [
      'comments, which stay with the entry that follows',
      "{\n    // The one that works.\n    '1.3.0': { amd64: 'a' }, // really\n    /* old */\n    '1.1.0': { amd64: 'a' },\n  }",
      "{\n    // The one that works.\n    '1.3.0': { amd64: 'a' }, // really\n    '1.2.0': { amd64: 'new-amd64', arm64: 'new-arm64' },\n    /* old */\n    '1.1.0': { amd64: 'a' },\n  }",
    ],
    [
      'no comma after the last',
      "{\n    '1.0.0': { amd64: 'a' },\n    '1.1.0': { amd64: 'a' } // last, and '1.2.0'\n  }",
      "{\n    '1.0.0': { amd64: 'a' },\n    '1.1.0': { amd64: 'a' }, // last, and '1.2.0'\n    '1.2.0': { amd64: 'new-amd64', arm64: 'new-arm64' }\n  }",
    ],
  ])('fits to %s', (_, before, after) => {
    expect(plan(declare(before), { select: false })['web.ts']).toBe(declare(after));
  });

  it('keeps line ends of Windows', () => {
    const before = declare(`{\n${entryOf('1.1.0')}  }`, '\r\n');
    const after = plan(before, { select: false })['web.ts'];
    expect(after).toBe(declare(`{\n${ENTRY}${entryOf('1.1.0')}  }`, '\r\n'));
  });

  it('has only the architectures that were downloaded, and its own URL', () => {
    const digests = { url: 'https://new.example.com/{arch}', arm64: 'new-arm64' };
    const after = plan(declare(`{\n${entryOf('1.1.0')}  }`), { select: false, digests })['web.ts'];
    expect(after).toContain(
      "    '1.2.0': {\n      url: 'https://new.example.com/{arch}',\n      arm64: 'new-arm64',\n    },\n",
    );
  });

  it('that is declared changes the selected version only', () => {
    const before = declare(`{\n${ENTRY}${entryOf('1.1.0')}  }`);
    expect(plan(before)).toMatchObject({
      'web.ts': before,
      because: 'versions.ts: selects 1.2.0 instead of 1.1.0',
    });
    expect(plan(before, {}, SELECTED.replace('1.1.0', '1.2.0')).because).toBe('');
  });

  it('in the file of the selection is two edits of that file', () => {
    const text = `${SELECTED}${declare(`{\n${entryOf('1.1.0')}  }`)}`;
    const after = plan(text, {}, '')['web.ts'];
    expect(after).toBe(
      `${SELECTED.replace('1.1.0', '1.2.0')}${declare(`{\n${ENTRY}${entryOf('1.1.0')}  }`)}`,
    );
  });
});

describe('a change is refused', () => {
  const text = declare(`{\n${entryOf('1.2.0')}  }`);

  it('for a version that is declared with another digest', () => {
    expect(plan(text)).toEqual({
      because:
        'the file of 1.2.0 for amd64 is not the one that was declared: expected sha256 a, published is new-amd64',
      where: 'web.ts:6',
    });
  });

  it('for a version that lacks an architecture', () => {
    const release = { digests: { amd64: 'a', arm64: 'b' } };
    const without = declare("{\n    '1.2.0': {\n      amd64: 'a',\n    },\n  }");
    expect(plan(without, release)).toEqual({
      because: '1.2.0 is declared without a digest for arm64',
      where: 'web.ts:6',
    });
  });

  it('to select a version of a component that has none selected', () => {
    expect(plan(declare('{}'), {}, 'export const versions = {};')).toEqual({
      because: "no version of web is selected: found no `const versions = { 'web': '…' }`",
      where: 'web.ts:2',
    });
  });
});
