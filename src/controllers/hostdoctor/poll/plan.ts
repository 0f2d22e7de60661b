/** Decides what is reported of the events that a provider announces: new, moved, and taken back. Pure. */
import { NO_OUTAGES, OUTAGES } from '../../../api/enums.ts';
import type { Machine, MaintenanceEvent } from '../../../api/generated/types.ts';
import { isFinalState } from '../../../api/machine/maintenance-events.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { LABEL_MACHINE, LABEL_MANAGED_BY, MANAGED_BY } from '../../../api/names.ts';
import type { Intent } from '../../../kube/controller/intent.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import type { InstanceEvent, Provider } from '../../../providers/contract.ts';
import { type EventIdentity, eventIdentity, identityOnInstance } from './identity.ts';

export interface PollInput {
  readonly provider: Provider['name'];
  readonly notices: readonly InstanceEvent[];
  readonly machines: readonly Machine[];
  readonly events: readonly MaintenanceEvent[];
  /** The number of polls in a row, by name, in which an event was not announced any more. */
  readonly missing: ReadonlyMap<string, number>;
  /** The time by the clock of the API server. */
  readonly now: Date;
}

export type EventReport = Intent<MaintenanceEvent>;

export interface PollPlan {
  readonly reports: readonly EventReport[];
  /** Why a notice leads to no event, by its id. */
  readonly skipped: ReadonlyMap<string, string>;
  readonly missing: ReadonlyMap<string, number>;
}

/** A list of a provider may be stale or incomplete, and an event that ended cannot begin again: so it ends only after some polls without it. */
const ENOUGH_MISSES = 3;
/** The notices of one poll that are reported: those that begin first. The others follow when these have ended. */
const MAX_NOTICES = 1000;

type Spec = MaintenanceEvent['spec'];

export function planPoll(input: PollInput): PollPlan {
  const reports: EventReport[] = [];
  const skipped = new Map<string, string>();
  const announced = new Set<string>();
  for (const [index, notice] of distinctNotices(input.notices).entries()) {
    const { name, because, report } = readNotice(notice, input, announced);
    if (name !== undefined) announced.add(name);
    const reason = because ?? (index < MAX_NOTICES ? undefined : `more than ${MAX_NOTICES} are announced`);
    if (reason !== undefined) skipped.set(notice.eventId, reason);
    else if (report) reports.push(report);
  }
  const missing = countMissing(input, announced);
  const ended = input.events.filter(({ metadata }) => (missing.get(metadata.name) ?? 0) >= ENOUGH_MISSES);
  const ends = ended.map((event) => intentOf(event, { ...event.spec, state: endOf(event, input.now) }));
  return { reports: [...reports, ...ends], skipped, missing };
}

/** Returns each notice once, those that begin first before the others: a list may repeat one. */
function distinctNotices(notices: readonly InstanceEvent[]): readonly InstanceEvent[] {
  const byIds = new Map(
    notices.map((notice) => [JSON.stringify([notice.eventId, notice.instanceId]), notice]),
  );
  return [...byIds.values()].toSorted(byBegin);
}

function countMissing(input: PollInput, announced: ReadonlySet<string>): ReadonlyMap<string, number> {
  const names = input.events.filter((event) => isOwn(event, input)).map(({ metadata }) => metadata.name);
  const missing = names.filter((name) => !announced.has(name));
  return new Map(missing.map((name) => [name, (input.missing.get(name) ?? 0) + 1]));
}

interface ReadNotice {
  /** The name of its event. Undefined: there is none. */
  readonly name?: string;
  readonly because?: string;
  readonly report?: EventReport;
}

function readNotice(notice: InstanceEvent, input: PollInput, announced: ReadonlySet<string>): ReadNotice {
  const { provider } = input;
  const [machine, twin] = machinesOf(notice, input);
  if (!machine || twin) {
    return { because: unmatchedReason(notice, machine, twin), ...knownName(notice, input) };
  }
  const { eventID, name } = identityOn(machine, notice, { input, announced });
  const before = input.events.find(({ metadata }) => metadata.name === name);
  // What a person reported or ended is theirs.
  if (before && !isOwn(before, input)) return { name, ...optional('because', endedReason(before)) };
  const spec: Spec = {
    provider,
    eventID,
    machine: machine.metadata.name,
    ...stateOf(notice, before),
    hint: false,
    ...timesOf(notice),
  };
  return { name, report: intentOf({ metadata: { name } }, spec) };
}

/** A list that was incomplete may have ended the event: the machine is not prepared any more, and only a person can change that. */
function endedReason({ metadata, spec }: MaintenanceEvent): string | undefined {
  if (!isFinalState(spec.state)) return undefined;
  return `MaintenanceEvent ${metadata.name} is ${spec.state}, and an event that ended cannot begin again. To prepare the machine for it, delete that MaintenanceEvent`;
}

function machinesOf({ instanceId }: InstanceEvent, { provider, machines }: PollInput): readonly Machine[] {
  return machines.filter(
    ({ spec, status }) => spec.infra.provider === provider && status?.infra?.providerID === instanceId,
  );
}

function unmatchedReason({ instanceId }: InstanceEvent, machine?: Machine, twin?: Machine): string {
  if (!machine || !twin) return `no Machine has the instance ${instanceId}`;
  return `Machines ${machine.metadata.name} and ${twin.metadata.name} have the instance ${instanceId}`;
}

/** One event of a provider may concern several instances. The first one has the short name, for as long as its object exists. */
function identityOn(
  { metadata }: Machine,
  { eventId, instanceId }: InstanceEvent,
  { input, announced }: { readonly input: PollInput; readonly announced: ReadonlySet<string> },
): EventIdentity {
  const first = eventIdentity(input.provider, eventId);
  const own = identityOnInstance(first, instanceId);
  const known = new Map(input.events.map((event) => [event.metadata.name, event.spec.machine]));
  const isTaken = announced.has(first.name) || (known.get(first.name) ?? metadata.name) !== metadata.name;
  return isTaken || known.get(own.name) === metadata.name ? own : first;
}

/** A notice whose machine is not known now still keeps its event from ending. */
function knownName(
  { eventId, instanceId }: InstanceEvent,
  { provider, events }: PollInput,
): Pick<ReadNotice, 'name'> {
  const first = eventIdentity(provider, eventId);
  const names = [identityOnInstance(first, instanceId).name, first.name];
  return optional(
    'name',
    names.find((name) => events.some(({ metadata }) => metadata.name === name)),
  );
}

/** Tells whether an event came from a poll of this provider, and is not over. */
function isOwn({ metadata, spec }: MaintenanceEvent, { provider }: PollInput): boolean {
  const isPolled = spec.provider === provider && metadata.labels?.[LABEL_MANAGED_BY] === MANAGED_BY;
  return isPolled && !isFinalState(spec.state);
}

/** Returns the next state of an event that is not announced any more. One whose time has come was carried out: it is Done by way of Executing. */
function endOf({ spec }: MaintenanceEvent, now: Date): Spec['state'] {
  if (spec.state === 'Executing') return 'Done';
  const notBefore = parseTime(spec.notBefore);
  return spec.state === 'Scheduled' && notBefore && notBefore <= now ? 'Executing' : 'Cancelled';
}

function intentOf({ metadata: { name } }: Pick<MaintenanceEvent, 'metadata'>, spec: Spec): EventReport {
  return {
    metadata: { name, labels: { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_MACHINE]: spec.machine } },
    spec,
  };
}

function typeOf({ type }: InstanceEvent): Spec['type'] {
  return [...OUTAGES, ...NO_OUTAGES].find((each) => each === type) ?? 'Other';
}

/** Returns what only a new event gets from its notice: a type cannot change, and a state is continued by a person or by its end. */
function stateOf(notice: InstanceEvent, before: MaintenanceEvent | undefined): Pick<Spec, 'type' | 'state'> {
  if (before) return { type: before.spec.type, state: before.spec.state };
  return { type: typeOf(notice), state: 'Scheduled' };
}

/** A deadline before the begin, and an invalid time, are left out: the API server would refuse the event. */
function timesOf({ notBefore, deadline }: InstanceEvent): Pick<Spec, 'notBefore' | 'deadline'> {
  const [begin, end] = [timeOf(notBefore), timeOf(deadline)];
  const isInOrder = begin === undefined || end === undefined || begin <= end;
  return {
    ...optional('notBefore', begin && wholeSeconds(begin)),
    ...optional('deadline', end && isInOrder ? wholeSeconds(end) : undefined),
  };
}

function timeOf(date: Date | undefined): Date | undefined {
  return date && Number.isFinite(date.getTime()) ? date : undefined;
}

function byBegin(a: InstanceEvent, b: InstanceEvent): number {
  const [begin, other] = [timeOf(a.notBefore)?.getTime() ?? 0, timeOf(b.notBefore)?.getTime() ?? 0];
  if (begin !== other) return begin - other;
  return compare(a.eventId, b.eventId) || compare(a.instanceId, b.instanceId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
