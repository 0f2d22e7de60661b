/** Reads what a provider announces, with one request for all of its machines, and reports it as MaintenanceEvents. */
import { MACHINES, MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import type { Machine, MaintenanceEvent } from '../../../api/generated/types.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { withDeadline } from '../../../os/deadline.ts';
import {
  type InstanceEvent,
  isProviderError,
  type Provider,
  ProviderError,
} from '../../../providers/contract.ts';
import { type EventReport, planPoll } from './plan.ts';

/** Returns the key of the polls of a provider. It has a slash, so no MaintenanceEvent has this name. */
export function pollKey(provider: Provider['name']): string {
  return `poll/${provider}`;
}

/** Holds what a process remembers between two polls of one provider. */
export interface PollMemory {
  missing: ReadonlyMap<string, number>;
  skipped: ReadonlyMap<string, string>;
  problem: string | undefined;
}

export function createPollMemory(): PollMemory {
  return { missing: new Map(), skipped: new Map(), problem: undefined };
}

const MIN_SECONDS = 60;
const MAX_SECONDS = 600;
/** Three requests for four machines and an hour. */
const SECONDS_OF_A_MACHINE = 4800;
const REQUEST_MS = 30_000;

/** Returns the time between two polls: few machines cause few requests. */
export function pollSeconds(machines: number): number {
  return Math.min(
    MAX_SECONDS,
    Math.max(MIN_SECONDS, Math.ceil(SECONDS_OF_A_MACHINE / Math.max(1, machines))),
  );
}

interface PollParts {
  readonly memory: PollMemory;
  /** Returns the time by the clock of the API server. */
  readonly now: () => Date;
  readonly context: ReconcileContext;
}

type PolledProvider = Pick<Provider, 'name' | 'events'>;

export async function pollProvider(provider: PolledProvider, parts: PollParts): Promise<ReconcileResult> {
  const { context } = parts;
  const all = context.view<Machine>(MACHINES).list();
  const machines = all.filter(({ spec }) => spec.infra.provider === provider.name);
  const pause = machines.length === 0 ? 0 : await pollMachines(provider, machines, parts);
  return { requeueAt: secondsAfter(context.clock.now(), Math.max(pollSeconds(machines.length), pause)) };
}

/** Resolves with the seconds for which the provider asked to be left alone. */
async function pollMachines(
  provider: PolledProvider,
  machines: readonly Machine[],
  { memory, now, context }: PollParts,
): Promise<number> {
  const notices = await readNotices(provider, context);
  if (isProviderError(notices)) return reportFailure(provider, notices, { memory, context });
  memory.problem = undefined;
  const events = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS).list();
  const { name } = provider;
  const plan = planPoll({ provider: name, notices, machines, events, missing: memory.missing, now: now() });
  const skipped = new Map([...plan.skipped, ...(await applyReports(plan.reports, context))]);
  for (const [eventId, because] of skipped) {
    const isNews = memory.skipped.get(eventId) !== because;
    if (isNews) context.log.warn('announced event skipped', { provider: name, eventId, because });
  }
  memory.skipped = skipped;
  // Only now: a poll whose reports failed is done again.
  memory.missing = plan.missing;
  return 0;
}

/** Resolves with why the API server refused a report, by the id of its event. One that is refused keeps no other from its machine. */
async function applyReports(
  reports: readonly EventReport[],
  { apply }: Pick<ReconcileContext, 'apply'>,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  for (const intent of reports) {
    try {
      await apply(MAINTENANCE_EVENTS, intent); // oxlint-disable-line no-await-in-loop -- unchanged ones send no request
    } catch (error) {
      if (!isKubeError(error, 'Invalid')) throw error;
      refused.set(
        intent.spec?.eventID ?? '',
        `MaintenanceEvent ${intent.metadata.name} is refused: ${error.message}`,
      );
    }
  }
  return refused;
}

function expired(): Error {
  return new ProviderError('Retryable', `no answer in ${REQUEST_MS / 1000} s`);
}

/** Resolves with the error of the provider. Everything else is not an answer of the provider: the reconcile fails. */
async function readNotices(
  provider: PolledProvider,
  { clock, signal }: ReconcileContext,
): Promise<readonly InstanceEvent[] | ProviderError> {
  try {
    return await withDeadline({ clock, ms: REQUEST_MS, signal, expired }, (limited) =>
      provider.events(limited),
    );
  } catch (error) {
    if (isProviderError(error)) return error;
    throw error;
  }
}

/** Logs a failure once, until another one follows. A poll that failed ends no event. */
function reportFailure(
  { name }: PolledProvider,
  error: ProviderError,
  { memory, context }: Pick<PollParts, 'memory' | 'context'>,
): number {
  const problem = `${error.reason}: ${error.message}`;
  const isNews = memory.problem !== problem;
  if (isNews) context.log.warn('events of the provider not read', { provider: name, error });
  memory.problem = problem;
  return error.retryAfterSeconds ?? 0;
}
