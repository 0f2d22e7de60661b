/** Runs one process of controllers over the simulated API server: the real controllers, their writes, and the real ledger. */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import { createComponentSetController } from '../../controllers/componentset/controller.ts';
import { CONTROLLER_REVISIONS } from '../../controllers/componentset/revision/stored-revisions.ts';
import { createHostDoctorController } from '../../controllers/hostdoctor/controller.ts';
import { createMachineController } from '../../controllers/machine/controller.ts';
import { createRemedyController } from '../../controllers/remedy/controller/controller.ts';
import { createRemedyJobController } from '../../controllers/remedyjob/controller.ts';
import { createPendingApprovals } from '../../defender/approvals/pending.ts';
import { createDefenderController } from '../../defender/controller/controller.ts';
import { createDenialCounts } from '../../defender/controller/denial-counts.ts';
import { createCallWindow } from '../../defender/facts/call-window.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import type { View } from '../../kube/cache/view.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES, PODS } from '../../kube/objects/core-kinds.ts';
import type { Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { createEventAnswers } from '../../providers/event-answers.ts';
import type { PowerSwitches } from '../../providers/power.ts';
import { createLiveFacts } from '../../rules/live/live-facts.ts';
import { createFactViews, FACT_VIEW_NAMES, FACT_VIEWS } from '../../rules/views.ts';
import type { Random } from '../random.ts';
import { type ControllerQueue, createControllerQueue, type QueueOptions } from './controller-queue.ts';
import { createFaultyClient, type FaultyClient, type FaultyClientOptions } from './faulty-client.ts';
import { createFollowingView } from './following-view.ts';
import { createObservedLedger, type ObservedLedger, type ObservedLedgerParts } from './observed-ledger.ts';
import {
  type Breakage,
  jobClientWith,
  jobGrantsWith,
  powerViewsWith,
  recheckWith,
  switchesWith,
} from './repairs/breakage.ts';
import {
  grantsWith,
  ledgerWithout,
  type RolloutBreakage,
  rolloutViewsWith,
} from './repairs/guard-breakage.ts';

export interface ProcessOptions extends Omit<FaultyClientOptions, 'calls'> {
  /** The options of the controllers of rules and jobs. Absent: they do not run. */
  readonly repairs?: { readonly broken: Breakage | undefined; readonly switches: PowerSwitches };
  readonly broken?: RolloutBreakage;
  /** Returns the skew of the wall clock of the process. */
  readonly skewMs: () => number;
}

export interface ControllerProcess {
  readonly isDead: () => boolean;
  /** Follows what changed, and reconciles what is due. */
  step(): Promise<void>;
  close(): void;
}

/** The state of a run in which the process is killed now and then. */
export interface RestartedProcess {
  process: ControllerProcess | undefined;
  startsMs: number;
  kills: number;
  readonly clock: { readonly nowMs: number };
  readonly random: Random;
}

const KINDS: readonly Resource[] = [
  MACHINES,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  NODES,
  LEASES,
  CONTROLLER_REVISIONS,
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  REMEDY_OPERATION_JOBS,
  MACHINE_SETS,
  PODS,
  CERTIFICATE_REQUESTS,
];
const FACT_KINDS_READ = FACT_VIEW_NAMES.map((name) => FACT_VIEWS[name].resource);
const REPAIR_KINDS: readonly Resource[] = [
  NODE_REMEDIERS,
  ...FACT_KINDS_READ.filter((resource) => !KINDS.includes(resource)),
];
/** The limit of reconciles in one step: more than any moment needs. */
const MAX_RECONCILES = 2000;

export function createControllerProcess(options: ProcessOptions): ControllerProcess {
  const { nowMs, skewMs } = options;
  // Nothing waits: retries follow at once.
  const clock: Clock = {
    now: () => new Date(nowMs() + skewMs()),
    monotonicMs: nowMs,
    sleep: () => Promise.resolve(),
  };
  const calls = createCallWindow(clock);
  const client = createFaultyClient({ ...options, calls });
  const kinds = options.repairs ? [...KINDS, ...REPAIR_KINDS] : KINDS;
  const following = kinds.map((kind) => createFollowingView(kind, options));
  const views = Object.fromEntries(following.map(({ view }) => [view.resource.kind, view]));
  const broken = options.repairs?.broken;
  const without = broken === 'BudgetIgnored' ? new Set(['concurrency']) : ledgerWithout(options.broken);
  const { observer, ledger } = createObservedLedger({
    client,
    clock,
    views,
    calls,
    ...optional('without', without),
  });
  const facts =
    options.repairs &&
    createLiveFacts({ clock, views: createFactViews(({ resource }) => viewOf(views, resource)) });
  const createQueue = (controller: Controller, as: Partial<QueueOptions> = {}): ControllerQueue =>
    createControllerQueue({ controller, client, views, clock, nowMs, skewMs, ...as });
  const { defender, componentSets, machines } = createControllers({
    client,
    clock,
    observer,
    ledger,
    broken: options.broken,
  });
  const queues = [
    createQueue(defender),
    createQueue(componentSets, { views: rolloutViewsWith(views, options.broken) }),
    createQueue(machines),
  ];
  if (facts && options.repairs) {
    const { switches } = options.repairs;
    const grants = jobGrantsWith(ledger, broken);
    queues.push(
      createQueue(createHostDoctorController({})),
      createQueue(createRemedyController({ facts, grants: ledger })),
      createQueue(
        createRemedyJobController({
          client: recheckWith(client, views, broken),
          switches: aliveSwitches(switchesWith(switches, broken), client),
          eventAnswers: createEventAnswers(() => ({})),
          grants,
          facts,
        }),
        { client: jobClientWith(client, broken), views: jobViews(views, options) },
      ),
    );
  }
  return {
    isDead: () => client.isDead(),
    step,
    close: () => {
      observer.close();
      facts?.close();
      for (const queue of queues) queue.close();
    },
  };

  async function step(): Promise<void> {
    for (const each of following) each.follow();
    for (let count = 0; count < MAX_RECONCILES; count += 1) {
      const queue = queues.find((each) => each.isDue());
      if (!queue || client.isDead()) return;
      // oxlint-disable-next-line no-await-in-loop -- one reconcile after the other
      await queue.reconcileNext();
    }
    throw new Error('the controllers do not come to rest');
  }
}

interface ControllerParts extends Omit<ObservedLedgerParts, 'views' | 'calls' | 'without'>, ObservedLedger {
  readonly broken: RolloutBreakage | undefined;
}

function createControllers({ client, clock, observer, ledger, broken }: ControllerParts) {
  const denials = createDenialCounts(clock);
  const pending = createPendingApprovals(clock);
  return {
    defender: createDefenderController({ observer, ledger, denials, pending }),
    componentSets: createComponentSetController({
      grants: grantsWith(ledger, broken),
      readServers: () => Promise.resolve({ state: 'Unknown', because: 'no kubelet is rolled out here' }),
    }),
    machines: createMachineController({ client, grants: ledger }),
  };
}

function viewOf(views: Readonly<Record<string, View>>, { kind }: Resource): View {
  const view = views[kind];
  if (!view) throw new Error(`there is no view of ${kind}`);
  return view;
}

/** Returns the views of the job controller, without what a breakage hides from it. */
function jobViews(views: Readonly<Record<string, View>>, options: ProcessOptions): QueueOptions['views'] {
  const broken = options.repairs?.broken;
  return broken === 'GuardIgnored' ? withoutRules(views, options) : powerViewsWith(views, broken);
}

/** A process that was killed switches nothing. */
function aliveSwitches(switches: PowerSwitches, { isDead }: Pick<FaultyClient, 'isDead'>): PowerSwitches {
  const alive = (): void => {
    if (isDead()) throw new Error('the process was killed');
  };
  return {
    open: async (machine, way, signal) => {
      const found = await switches.open(machine, way, signal);
      if ('because' in found) return found;
      return {
        way,
        state: async (stop) => {
          alive();
          return await found.state(stop);
        },
        request: async (desired, stop) => {
          alive();
          await found.request(desired, stop);
        },
      };
    },
  };
}

function withoutRules(views: Readonly<Record<string, View>>, options: ProcessOptions): QueueOptions['views'] {
  const api = { list: () => [], journal: new Map() };
  return { ...views, [NODE_REMEDIERS.kind]: createFollowingView(NODE_REMEDIERS, { ...options, api }).view };
}

/** Steps the process of a run. A process that was killed is started again after a while. */
export async function stepProcess<Run extends RestartedProcess>(
  run: Run,
  start: (run: Run) => ControllerProcess,
): Promise<void> {
  const { clock, random } = run;
  if (!run.process && clock.nowMs >= run.startsMs) run.process = start(run);
  await run.process?.step();
  if (run.process?.isDead() !== true) return;
  run.process.close();
  run.process = undefined;
  run.kills += 1;
  run.startsMs = clock.nowMs + random.below(6) * 10_000;
}
