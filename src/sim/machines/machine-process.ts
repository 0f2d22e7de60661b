/** Runs one process of the controllers of Machines and MachineSets: many reconciles at a time, and provider calls that take their time. */
import { setImmediate } from 'node:timers/promises';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import { createMachineController } from '../../controllers/machine/controller.ts';
import { createMachineSetController } from '../../controllers/machineset/controller.ts';
import { createPendingApprovals } from '../../defender/approvals/pending.ts';
import { createDefenderController } from '../../defender/controller/controller.ts';
import { createDenialCounts } from '../../defender/controller/denial-counts.ts';
import { createCallWindow } from '../../defender/facts/call-window.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES, PODS } from '../../kube/objects/core-kinds.ts';
import type { Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { type ControllerQueue, createControllerQueue } from '../rollout/controller-queue.ts';
import type { ControllerProcess } from '../rollout/controllers.ts';
import { createFaultyClient, type FaultyClientOptions } from '../rollout/faulty-client.ts';
import { createFollowingView } from '../rollout/following-view.ts';
import { createObservedLedger } from '../rollout/observed-ledger.ts';
import { grantsWith, ledgerWithout } from '../rollout/repairs/guard-breakage.ts';
import { machineViewsWith, providerWith, type SetBreakage, setClientWith, setViewsWith } from './breakage.ts';
import type { SimulatedCloud } from './cloud.ts';
import { createSimulatedProvider } from './provider.ts';
import { createVirtualWaits } from './virtual-waits.ts';

export interface MachineProcessOptions extends Omit<FaultyClientOptions, 'calls'> {
  readonly cloud: SimulatedCloud;
  /** Returns the delay of each event of a watch, in milliseconds. */
  readonly delayMs: () => number;
  readonly unsearched: (machine: string) => void;
  readonly broken: SetBreakage | undefined;
}

export const CLUSTER_UID = 'cluster-1';

const KINDS: readonly Resource[] = [
  MACHINES,
  MACHINE_SETS,
  NODES,
  LEASES,
  PODS,
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  REMEDY_OPERATION_JOBS,
  CERTIFICATE_REQUESTS,
];
/** The limit of reconciles in one step: more than any moment needs. */
const MAX_RECONCILES = 3000;
const MOST_AT_ONCE = 4;
const TOKEN_MS = 900_000;

export function createMachineProcess(options: MachineProcessOptions): ControllerProcess {
  const { nowMs, random, broken } = options;
  // Nothing but a provider waits: retries follow at once.
  const clock: Clock = { now: () => new Date(nowMs()), monotonicMs: nowMs, sleep: () => Promise.resolve() };
  const calls = createCallWindow(clock);
  const client = createFaultyClient({ ...options, calls });
  const waits = createVirtualWaits(nowMs);
  const following = KINDS.map((kind) => createFollowingView(kind, options));
  const views = Object.fromEntries(following.map(({ view }) => [view.resource.kind, view]));
  const { observer, ledger } = createObservedLedger({
    client,
    clock,
    views,
    calls,
    ...optional('without', ledgerWithout(broken)),
  });
  const provider = providerWith(createSimulatedProvider({ ...options, waits, live: client.live }), broken);
  const instances = {
    providers: { local: provider },
    clusterUid: CLUSTER_UID,
    createBootstrap: () => Promise.resolve({ text: 'secret', expiresAt: new Date(nowMs() + TOKEN_MS) }),
  };
  const denials = createDenialCounts(clock);
  const pending = createPendingApprovals(clock);
  const parts = { client, clock, nowMs, skewMs: () => 0 };
  const setClient = setClientWith(client, views, broken);
  const queues: readonly ControllerQueue[] = [
    createControllerQueue({
      ...parts,
      views,
      controller: createDefenderController({ observer, ledger, denials, pending }),
    }),
    createControllerQueue({
      ...parts,
      client: setClient,
      views: setViewsWith(views, broken),
      controller: createMachineSetController({
        client: setClient,
        grants: grantsWith(ledger, broken),
      }),
    }),
    createControllerQueue({
      ...parts,
      views: machineViewsWith(views, broken),
      controller: createMachineController({ client, grants: ledger, instances }),
    }),
  ];
  const failures: unknown[] = [];
  return {
    isDead: () => client.isDead(),
    step,
    close: () => {
      observer.close();
      for (const queue of queues) queue.close();
    },
  };

  /** Runs one step: reads what others wrote, ends calls of the provider, and reconciles what is due, some of it at the same time. */
  async function step(): Promise<void> {
    for (const each of following) each.follow();
    waits.release();
    for (let count = 0; count < MAX_RECONCILES; count += 1) {
      startSome();
      // oxlint-disable-next-line no-await-in-loop -- all that does not wait for the clock comes to rest
      await setImmediate();
      if (failures.length > 0) throw failures[0];
      if (client.isDead() || !queues.some((queue) => queue.isDue())) return;
    }
    throw new Error('the controllers do not come to rest');
  }

  function startSome(): void {
    for (let count = random.below(MOST_AT_ONCE) + 1; count > 0; count -= 1) {
      const queue = random.pick(queues.filter((each) => each.isDue()));
      queue?.reconcileNext().catch((error: unknown) => void failures.push(error));
    }
  }
}
