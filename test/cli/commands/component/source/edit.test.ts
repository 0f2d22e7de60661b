import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  declarationsIn,
  type FleetFile,
} from '../../../../../src/cli/commands/component/source/declarations.ts';
import { type EditedSources, editSources } from '../../../../../src/cli/commands/component/source/edit.ts';
import { findComponent } from '../../../../../src/cli/commands/component/source/find.ts';
import type { NewRelease } from '../../../../../src/cli/commands/component/source/plan.ts';
import { readPage } from '../../../../support/page/page.ts';

function edit(sources: readonly FleetFile[], component: string, release: NewRelease): EditedSources {
  const { found } = findComponent(declarationsIn(sources), component);
  if (!found) throw new Error('expected a component');
  return editSources(sources, found, release);
}

const declare = (versions: string): string =>
  `componentReleases({ component: 'web', versions: {${versions}} });\n`;
const RELEASE: NewRelease = { version: '1.1.0', digests: { amd64: 'b' }, select: false };

describe('editSources', () => {
  it('prints the diff of the guide', () => {
    const page = readPage('docs/guides/component-versions.md');
    const printed = page.blocks('').find((block) => block.startsWith('---')) ?? '';
    const [declared = ''] = page.blocks('ts');
    const [amd64 = '', arm64 = ''] = [...printed.matchAll(/^\+.*: '(?<digest>\w{64})'/gm)].map(
      ({ groups }) => groups?.['digest'],
    );
    const sources = [
      { path: 'fleet/components/kubelet.ts', text: declared },
      { path: 'fleet/versions.ts', text: readFileSync('fleet/versions.ts', 'utf8') },
    ];
    const { diff } = edit(sources, 'kubelet', { version: '1.36.4', digests: { amd64, arm64 }, select: true });
    expect(diff.trimEnd()).toBe(printed.trimEnd());
  });

  it('has only the files that change', () => {
    const sources = [
      { path: 'a.ts', text: declare("\n'1.0.0': { amd64: 'a' },\n") },
      { path: 'b.ts', text: 'const a = 1;\n' },
    ];
    const { changed } = edit(sources, 'web', RELEASE);
    const text = declare("\n'1.1.0': { amd64: 'b' },\n'1.0.0': { amd64: 'a' },\n");
    expect(changed).toEqual([{ path: 'a.ts', text }]);
  });

  it('refuses a form in which the new entry would not be read again', () => {
    const text = declare("\n'0.8.0': { amd64: 'a' },\n'0.9.0': { amd64: 'a' }\n,\n");
    expect(edit([{ path: 'a.ts', text }], 'web', RELEASE)).toMatchObject({
      changed: [],
      diff: '',
      refused: {
        because: 'the file has a form that is not edited safely: the release is not found after the edit',
      },
    });
  });
});
