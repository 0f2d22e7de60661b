import { describe, expect, it } from 'vitest';
import { formatWhy } from '../../../../src/cli/fleet/why/format.ts';
import {
  DECIDING_KINDS,
  findUnreadable,
  readReported,
  unreadableParts,
} from '../../../../src/cli/fleet/why/partial.ts';
import { createDefender } from '../../../../src/defender/defender.ts';
import { createCallWindow } from '../../../../src/defender/facts/call-window.ts';
import { EMPTY_LEDGER } from '../../../../src/defender/ledger/draft.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { repairJob } from '../../../controllers/remedyjob/jobs.ts';
import { ago, condition, machine, NOW } from '../../../support/builders.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const { signal } = new AbortController();
const clock = { ...virtualClock(), now: () => NOW };

const MACHINE = machine('m-1', {
  metadata: { labels: { 'kubenode.dev/exclude': '' } },
  status: {
    conditions: [condition('NodeReady', 'False', { lastTransitionTime: ago(720) })],
    node: { uid: 'uid-node', establishedAt: ago(9000), cordon: { since: ago(600) } },
  },
});

function readMachine(): Promise<KubeObject> {
  return Promise.resolve(MACHINE);
}

/** A server that permits the kinds of kubenode, as the role kubenode-view does. */
function viewer(objects: Readonly<Record<string, readonly KubeObject[]>>): Client {
  const list = ({ group, plural }: Resource) =>
    group === ''
      ? Promise.reject(new KubeError('Forbidden', `list ${plural}: forbidden`))
      : Promise.resolve({ items: objects[plural] ?? [], resourceVersion: '1' });
  async function* pages(resource: Resource) {
    yield await list(resource);
  }
  return { server: 'https://hub', get: readMachine, list, pages } as unknown as Client;
}

const waiting = { reason: 'ApprovalRequired', since: ago(540), message: 'rung reboot needs one' };
const ledger: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'DefenderLedger',
  metadata: { name: 'default' },
  spec: { ...EMPTY_LEDGER, seq: 7 },
};

describe('a machine that a viewer asks about', () => {
  it('CON-32 is explained from what it reports, and the verdicts are named as unknown', async () => {
    const job = repairJob({ status: { waiting } });
    const client = viewer({ remedyoperationjobs: [job], defenderledgers: [ledger] });
    const unreadable = await findUnreadable(client, signal);
    const reported = await readReported({ clock, signal }, client, 'm-1');
    const unknown = unreadableParts(unreadable);
    expect(unknown.map(({ part }) => part)).toEqual(['acts', 'held', 'probes']);
    const text = formatWhy({ ...reported, unknown }, NOW);
    expect(text).toMatch(
      /^m-1 .*NotReady 12m, cordoned, excluded by the label kubenode.dev\/exclude .*ledger seq 7/,
    );
    expect(text).toContain(
      'waits     RemedyOperationJob m-kernel-hang-7c1f02ab-r1-a1: ApprovalRequired: rung reboot needs one (9m)',
    );
    expect(text).toContain(
      'unknown   whether a repair would be permitted is not known: you may not list nodes, pods, by which the Defender decides',
    );
    expect(text).toContain('what holds the machine by its Node is not known: you may not list nodes');
    expect(text).toContain('what the probes of its peers found is not known');
    expect(text).not.toMatch(/it has no Node|PERMITTED|DENIED/);
  });

  it('is not explained without the ledger, which every act needs', async () => {
    await expect(readReported({ clock, signal }, viewer({}), 'm-1')).rejects.toThrow(
      'DefenderLedger default',
    );
  });

  it('is judged by all kinds that the Defender reads', () => {
    const defender = createDefender({
      client: { server: 'none' } as Client,
      clock: virtualClock(),
      random: () => 0,
      log: memoryLog(),
      calls: createCallWindow(virtualClock()),
      leads: () => false,
    });
    const read = Object.values(defender.views).map(({ resource }) => resource.kind);
    expect(DECIDING_KINDS.map(({ kind }) => kind).toSorted()).toEqual(read.toSorted());
    defender.close();
  });
});
