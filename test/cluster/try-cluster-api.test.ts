/** The section of docs/guides/cluster-api.md that runs on this computer: each of its statements, as the page prints it. */
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { cacheFolder } from '../../src/local/folders.ts';
import { noCoreReason } from '../support/cluster-api/core.ts';
import { noClusterApiReason } from '../support/cluster-api/crds.ts';
import { type Act, followPage, type Reader } from '../support/page/follow.ts';
import { readPage } from '../support/page/page.ts';
import { tempFolder } from '../support/temp.ts';

const PAGE = 'docs/guides/cluster-api.md';
const SECTION = 'On this computer';
const WORKERS = 'kubectl -n fleet get machines.cluster.x-k8s.io -l deployment=workers -o json';
const reason = noClusterApiReason ?? (await noCoreReason());

describe.skipIf(reason)('Cluster API on this computer', { timeout: 900_000 }, () => {
  it('CAP-22 is followed as the guide prints it: updated in place, drained after a hold, replaced for another field', async () => {
    const uids: string[] = [];
    const remember: Act = async (reader) => void uids.push(...(await workers(reader)).map(uidOf));
    const entered = await followPage({
      page: readPage(PAGE),
      isLeftOut: (title) => title !== SECTION,
      instead: {},
      terminal: terminal(),
      expectations: [
        { at: 'npm run try:cluster-api', until: /It runs until Ctrl-C/ },
        { at: 'get machinedeployments', prints: /workers +c +True +3 +3 +3/ },
        { at: 'get machines.kubenode.dev', prints: /(?:kubelet-1\.36\.1[\s\S]*){3}/, after: remember },
        {
          at: '"version": "v1.36.2"',
          after: until(
            (found) => found.every(isUpdated) && found.every((each) => uids.includes(uidOf(each))),
          ),
        },
        {
          at: 'kubenode machine hold',
          after: async (reader) => {
            await reader.shows(
              'kubectl -n fleet get machines.cluster.x-k8s.io $machine -o yaml',
              /pre-drain/,
            );
          },
        },
        { at: '"Deleting"', prints: /WaitingForPreDrainHook/ },
        {
          at: 'kubenode machine release',
          after: until((found) => found.filter((each) => uids.includes(uidOf(each))).length === 2),
        },
        {
          at: '"infrastructureRef"',
          after: until((found) => found.every((each) => !uids.includes(uidOf(each)))),
        },
        { at: 'get machines.cluster.x-k8s.io', after: (reader) => reader.interruptAll() },
      ],
    });
    expect(entered).toBeGreaterThan(8);
  });
});

/** A folder of the user for what it leaves, and the caches of this machine. */
function terminal(): Parameters<typeof followPage>[0]['terminal'] {
  const [home, cwd] = [tempFolder('home'), process.cwd()];
  const { binaries } = inject('controlPlaneRun');
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|KUBECONFIG$|XDG_)/.test(name));
  return {
    start: spawn,
    cwd,
    first: `alias kubenode="node ${cwd}/src/cli/main.ts"`,
    env: {
      ...Object.fromEntries(own),
      HOME: home,
      XDG_CACHE_HOME: dirname(cacheFolder(process.env)),
      PATH: [binaries, process.env['PATH']].join(delimiter),
    },
  };
}

/** Waits until three machines are there, and this is true of them. */
function until(isTrue: (found: readonly KubeObject[]) => boolean): Act {
  return (reader) =>
    reader.shows(WORKERS, (stdout) => {
      const found = itemsOf(stdout);
      return found.length === 3 && isTrue(found);
    });
}

async function workers(reader: Reader): Promise<readonly KubeObject[]> {
  return itemsOf((await reader.run(WORKERS)).stdout);
}

function itemsOf(stdout: string): readonly KubeObject[] {
  return (JSON.parse(stdout) as { readonly items: readonly KubeObject[] }).items;
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

function isUpdated(theirs: KubeObject): boolean {
  const isUpdating = Object.keys(theirs.metadata.annotations ?? {}).some((key) => key.includes('in-place'));
  return textAt(theirs, 'spec', 'version') === 'v1.36.2' && !isUpdating;
}
