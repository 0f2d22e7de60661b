import { expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { EMPTY_JOURNAL, type JournalState } from '../../../src/agent/journal/progress.ts';
import { CACHE_DIRECTORY, targetFile } from '../../../src/agent/layout.ts';
import { removeOldVersions } from '../../../src/agent/run/retention.ts';
import { storeTarget } from '../../../src/agent/target/store.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { target } from '../../support/agent/targets.ts';
import { NOW } from '../../support/virtual-clock.ts';

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
const [OLDEST, BEFORE, CURRENT] = ['1.0', '1.1', '1.2'].map((version) => target(version)) as [
  Target,
  Target,
  Target,
];
const OTHER = target('2.0', { component: 'other', directory: '/opt/kubenode/other/2.0' });

function journal(...all: readonly (readonly [Target, readonly Target[]])[]): JournalState {
  const components = all.map(([{ id: current, component }, history]) => {
    const ids = history.map(({ id }) => id);
    const fields = { state: 'Committed', denied: [], since: NOW.toISOString() } as const;
    return [component, { component, current, history: ids, ...fields }] as const;
  });
  return { ...EMPTY_JOURNAL, components: new Map(components) };
}

async function place(host: MemoryHost, ...targets: readonly Target[]): Promise<void> {
  for (const each of targets) {
    await storeTarget(host.files, each);
    await host.files.write(`${each.directory}/program`, new Uint8Array(), ATTRIBUTES);
    await host.files.write(artifact(each), new Uint8Array(), ATTRIBUTES);
  }
}

function artifact(of: Target): string {
  return `${CACHE_DIRECTORY}/${of.artifact?.sha256}`;
}

async function has(host: MemoryHost, path: string): Promise<boolean> {
  return (await host.files.stat(path)) !== undefined;
}

it('AGT-13 removes versions beyond keepVersions, and nothing of the others', async () => {
  const host = createProxyHost();
  await place(host, OLDEST, BEFORE, CURRENT);
  await removeOldVersions(host.files, journal([CURRENT, [BEFORE, OLDEST]]));
  for (const [each, kept] of [
    [OLDEST, false],
    [BEFORE, true],
    [CURRENT, true],
  ] as const) {
    expect([await has(host, each.directory), await has(host, artifact(each))]).toEqual([kept, kept]);
  }
});

it('AGT-13 removes nothing that a version may need which cannot be read', async () => {
  const host = createProxyHost();
  await place(host, OLDEST, BEFORE, CURRENT, OTHER);
  await host.files.remove(targetFile(CURRENT.id));
  await removeOldVersions(host.files, journal([CURRENT, [BEFORE, OLDEST]], [OTHER, []]));
  for (const each of [OLDEST, BEFORE, CURRENT, OTHER]) {
    expect([await has(host, each.directory), await has(host, artifact(each))]).toEqual([true, true]);
  }
});
