/** Follows a Machine, its Node and its grants while the API server is started again and again. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, LedgerGrant, Machine } from '../../../src/api/generated/types.ts';
import { LEDGER } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { type Condition, conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ReachedPlane } from './reached-plane.ts';

export interface Observed {
  /** The grants that the entry of the kubelet had, with what the ledger has of them. */
  readonly grants: readonly LedgerGrant[];
  /** The different texts, in the order in which they were read. */
  readonly ready: readonly string[];
  readonly problems: readonly string[];
}

const clock = createSystemClock();
const EVERY_MS = 250;

export function followKubelet(name: string, plane: Pick<ReachedPlane, 'asAdmin'>): () => Promise<Observed> {
  const stopped = new AbortController();
  const grants = new Map<string, LedgerGrant>();
  const [ready, problems]: [string[], string[]] = [[], []];

  async function read(client: Client): Promise<void> {
    const ledger = await client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    const machine = await client.get<Machine>(MACHINES, { name });
    const found = ledger.spec.grants[name];
    if (found && (hasGrant(machine, found) || grants.has(found.id))) grants.set(found.id, found);
    note(ready, readyText(await client.get(NODES, { name })));
    note(problems, machine.status?.agent?.authorities?.problem);
  }

  async function follow(): Promise<void> {
    while (!stopped.signal.aborted) {
      // A request that the restart of a member interrupts is sent again, with the kubeconfig of then.
      await plane.asAdmin(read).catch(() => undefined);
      await clock.sleep(EVERY_MS);
    }
  }

  const running = follow();
  return async () => {
    stopped.abort();
    await running;
    return { grants: [...grants.values()], ready, problems };
  };
}

function hasGrant({ spec }: Machine, { id }: LedgerGrant): boolean {
  return spec.components.some((entry) => entry.name === 'kubelet' && entry.grant?.id === id);
}

function readyText(node: KubeObject): string {
  const conditions = valueAt(node, 'status', 'conditions') as readonly Condition[];
  const { status, reason, message } = conditionOf(conditions, 'Ready') ?? {};
  return `${status} ${reason}: ${message}`;
}

function note(texts: string[], text: string | undefined): void {
  if (text !== undefined && text !== texts.at(-1)) texts.push(text);
}
