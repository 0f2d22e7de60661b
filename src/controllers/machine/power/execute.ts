/** Reads the power of silent machines from their BMCs, outside of reconciles: a BMC that is busy answers after seconds. */
import type { Machine, MachinePower } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import type { PowerSwitches } from '../../../providers/power.ts';
import { createHostWork, type HostWork } from '../import/execute/work.ts';
import type { Heartbeat } from '../observe.ts';
import { type PowerReading, planPowerRead, reportedPower } from './plan.ts';

export interface PowerParts {
  readonly switches: PowerSwitches;
  readonly clock: Clock;
}

export interface PowerReport {
  readonly status?: MachinePower;
  readonly requeueAt?: Date;
}

export interface PowerReads {
  /** Starts to read the power, when that is due. It does not wait for the BMC. */
  observe(machine: Machine, heartbeat: Heartbeat | undefined, context: ReconcileContext): PowerReport;
  forget(machine: Machine): void;
  /** Calls `add` for each Machine that was read. Returns a function that ends all reads. */
  open(add: (machine: string) => void): () => void;
}

/** A BMC that does not answer takes a turn for up to a minute; the BMCs of a rack often share a slow network. */
const AT_ONCE = 8;
const LIMIT_MS = 60_000;
const MAX_MESSAGE = 512;

/** Without parts this process reads no power. */
export function createPowerReads(parts: PowerParts | undefined): PowerReads {
  if (!parts) return { observe: () => ({}), forget: () => undefined, open: () => () => undefined };
  const work = createHostWork<PowerReading>(parts.clock, AT_ONCE);
  return {
    observe: (machine, heartbeat, context) => observe({ machine, heartbeat, context }, parts, work),
    forget: ({ metadata: { uid = '' } }) => work.forget(uid),
    open: (add) => work.open(add),
  };
}

interface Observed {
  readonly machine: Machine;
  readonly heartbeat: Heartbeat | undefined;
  readonly context: ReconcileContext;
}

function observe(
  { machine, heartbeat, context }: Observed,
  parts: PowerParts,
  work: HostWork<PowerReading>,
): PowerReport {
  const { name, uid = '', generation = 0 } = machine.metadata;
  const attempt = `${generation}`;
  // What the BMC of an earlier spec answers is not about this one.
  work.abort(uid, attempt);
  const last = work.result(uid, attempt);
  const now = parts.clock.now();
  const node = context.view(NODES).get(name);
  const decision = planPowerRead({ machine, node, heartbeat, last, isReading: work.isRunning(uid), now });
  if (decision.type === 'Forget') {
    work.forget(uid);
    return {};
  }
  if (decision.type === 'Read') work.start(createRead(machine, attempt, parts));
  return {
    ...optional('status', reportedPower(machine, last, now)),
    ...optional('requeueAt', decision.until),
  };
}

function createRead(
  machine: Machine,
  attempt: string,
  { switches, clock }: PowerParts,
): Parameters<HostWork<PowerReading>['start']>[0] {
  const { name, uid = '' } = machine.metadata;
  const unknown = (because: string): PowerReading => ({
    at: clock.now(),
    state: 'Unknown',
    message: because.slice(0, MAX_MESSAGE),
  });
  return {
    machine: name,
    uid,
    attempt,
    limitMs: LIMIT_MS,
    run: async (signal) => {
      const power = await switches.open(machine, 'BMC', signal);
      if ('because' in power) return unknown(power.because);
      return { at: clock.now(), state: await power.state(signal) };
    },
    failed: (error) => unknown(messageOf(error)),
    hasFailed: ({ state }) => state === 'Unknown',
  };
}
