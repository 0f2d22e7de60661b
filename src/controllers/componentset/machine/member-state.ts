/** Tells where one machine of a set is: what it was assigned, how far it has come, and whether it serves. Pure. */
import type {
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
  MachineHold,
} from '../../../api/generated/types.ts';
import { type AvailabilityInput, availabilityOf } from '../../../api/machine/availability.ts';
import { reportOf } from '../../../api/machine/entry-report.ts';
import { LEASE_SECONDS } from '../../../api/machine/heartbeat.ts';
import {
  isCordoned,
  isEstablished,
  type NodeReadiness,
  parseTime,
  readinessOf,
  readyTransition,
} from '../../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../../api/names.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import { pinnedComponents } from '../members/pins.ts';
import { batchStart, type OpenBatchStart } from './batch-start.ts';
import {
  type MemberStep,
  NOT_OBSERVED,
  type Progress,
  type UpdateInput,
  updateProgress,
} from './update-progress.ts';

export interface ObservedMember {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  /** When the heartbeat of the agent last changed, by our own clock. Undefined: never. */
  readonly heardAt: Date | undefined;
  /** The grant that the ledger holds for the machine. */
  readonly grant?: LedgerGrant;
  /** The health patrol over what the Machine does not report: Node conditions, restarts of pods, repairs. */
  readonly patrol?: Patrol;
}

export interface Patrol {
  readonly result: 'Pass' | 'Fail' | 'Unknown';
  readonly because: string;
  /** A problem that existed before the update, and does not fail the machine. */
  readonly asBefore?: string;
}

export interface MembersContext {
  readonly set: string;
  /** Names of the components of the set. */
  readonly components: ReadonlySet<string>;
  readonly timeoutSeconds: number;
  /** The retry token in the spec of the set. */
  readonly retryToken?: string;
  readonly openBatch?: OpenBatchStart;
  /** Revisions that the set may ask grants for now. Undefined: any. */
  readonly asked?: ReadonlySet<string>;
  readonly now: Date;
}

export interface MemberState extends Progress {
  readonly name: string;
  readonly uid: string;
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node?: KubeObject;
  /** The revision of its entries. Undefined: the set has assigned nothing to it yet. */
  readonly revision?: string;
  readonly batch?: number;
  /** Components of the set that a person or another tool owns here. */
  readonly pinned: readonly string[];
  readonly hold?: MachineHold;
  readonly readiness: NodeReadiness;
  /** Whether the machine was Ready at least once. Until then its changes disturb nothing. */
  readonly isEstablished: boolean;
  readonly isSilent: boolean;
  /** Why the machine is not available now. Undefined: it is, so that a change of it costs availability. */
  readonly unavailable?: string;
  /** The grant that the ledger holds for the machine, unless it is settled. */
  readonly grant?: LedgerGrant;
  readonly holdsGrant: boolean;
  /** When the permission in its entries ends; undefined: an entry has none. */
  readonly grantEndsAt?: Date;
  readonly nodeUID?: string;
  /** The grant for which its Node is cordoned, and which is not one of this set or of the machine controller. */
  readonly cordonedFor?: string;
}

export function memberState(observed: ObservedMember, context: MembersContext): MemberState {
  const { machine, node } = observed;
  const pins = pinnedComponents(machine);
  const entries = machine.spec.components.filter(
    ({ name, assignment }) => assignment?.set === context.set && !pins.has(name),
  );
  const [assignment] = entries.map((entry) => entry.assignment);
  const hold = holdInForce(machine, node, context.now);
  const view = viewOf(observed, context.now);
  const held = grantOf(observed, entries, context);
  const isTimed = isGrantOf(observed.grant, entries);
  const progress = updateProgress(
    {
      ...observed,
      ...view,
      entries,
      holdsGrant: held.holdsGrant,
      ...holdTimes(machine, hold),
      hasNewRetryToken: assignment?.retryToken !== context.retryToken,
      ...optional('startedAt', startedAt(observed, entries, context)),
      ...(isTimed ? {} : optional('permittedUntil', held.grantEndsAt)),
      ...optional('readyChangedAt', readyTransition(node)),
    },
    context,
  );
  return {
    ...progress,
    ...view,
    ...held,
    ...nameOf(machine),
    ...optional('node', node),
    ...optional('nodeUID', node?.metadata.uid),
    ...optional('cordonedFor', cordonedFor(machine, node, held)),
    ...optional('revision', assignment?.revision),
    ...optional('batch', assignment?.batch),
    pinned: [...pins].filter((name) => context.components.has(name)).toSorted(),
    ...optional('hold', hold),
    ...optional('unavailable', unavailableReason({ machine, node, now: context.now }, view, progress)),
  };
}

export function isAvailable({ unavailable }: Pick<MemberState, 'unavailable'>): boolean {
  return unavailable === undefined;
}

/**
 * Tells whether a machine may have given its grant back already. Until its agent has read entries without a grant, the grant
 * that it still has in the ledger may be one that was just settled there: the ledger is observed later than the Machine.
 */
export function hasGivenBack({
  holdsGrant,
  grantEndsAt,
  reason,
}: Pick<MemberState, 'holdsGrant' | 'grantEndsAt' | 'reason'>): boolean {
  return holdsGrant && !grantEndsAt && reason === NOT_OBSERVED;
}

/** A repair that failed keeps its cordon for a while after its grant. */
function cordonedFor(
  { status }: Machine,
  node: KubeObject | undefined,
  { grant }: Pick<MemberState, 'grant'>,
): string | undefined {
  if (!node || !isCordoned(node)) return undefined;
  const owner = ownValue(node.metadata.annotations ?? {}, ANNOTATION_CORDONED_BY);
  return [grant?.id, status?.drain?.grant].includes(owner) ? undefined : owner;
}

/**
 * Returns whether the machine is held, and when it was released. It is held until the machine controller has observed the
 * release: only then the time is known.
 */
function holdTimes(
  { status }: Machine,
  hold: MachineHold | undefined,
): Pick<UpdateInput, 'isHeld' | 'releasedAt'> {
  const condition = conditionOf(status?.conditions, 'Held');
  const isHeld = hold !== undefined || condition?.status === 'True';
  const releasedAt = condition?.status === 'False' ? parseTime(condition.lastTransitionTime) : undefined;
  return { isHeld, ...optional('releasedAt', releasedAt) };
}

function nameOf(machine: Machine): Pick<MemberState, 'name' | 'uid' | 'machine'> {
  return { name: machine.metadata.name, uid: machine.metadata.uid ?? '', machine };
}

/**
 * Returns the grant of the machine, which is in an entry, or in the ledger alone after a crash or a plain `kubectl apply`. A
 * grant for another revision that is in no entry was not written yet, or the write is not observed yet: it is not settled, and
 * the same ask returns it, unless the set does not ask for that revision any more. Once another holder has a grant, the one in
 * the entries has ended.
 */
function grantOf(
  observed: ObservedMember,
  entries: readonly MachineComponentEntry[],
  { set, asked }: MembersContext,
): Pick<MemberState, 'grant' | 'holdsGrant' | 'grantEndsAt'> {
  const found = observed.grant?.state === 'Settled' ? undefined : observed.grant;
  const isOwn = isHolder(found, set);
  const isWritten = entries.some((entry) => entry.grant !== undefined);
  const holdsGrant = found ? isOwn && (isWritten || isOfEntries(found, entries, asked)) : isWritten;
  const grant = isOwn && !holdsGrant ? undefined : found;
  return { holdsGrant, ...optional('grant', grant), ...optional('grantEndsAt', endOf(entries)) };
}

/** Tells whether a grant is for the entries that the machine has, or is left over from entries that it does not get any more. */
function isOfEntries(
  { holder: { revision = '' } }: LedgerGrant,
  [entry]: readonly MachineComponentEntry[],
  asked: MembersContext['asked'],
): boolean {
  if (!entry) return false;
  return revision === entry.assignment?.revision || asked?.has(revision) === false;
}

function endOf(entries: readonly MachineComponentEntry[]): Date | undefined {
  const ends = entries.map((entry) => Date.parse(entry.grant?.notAfter ?? ''));
  const first = Math.min(...ends);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

/**
 * Tells whether the grant in the ledger is that of the entries, and not an earlier one, whose time would be over at once. The
 * ledger may still show an earlier one, because it is observed later than the Machine.
 */
function isGrantOf(grant: LedgerGrant | undefined, entries: readonly MachineComponentEntry[]): boolean {
  if (!grant || grant.state === 'Settled') return false;
  return !entries.some((entry) => entry.grant !== undefined && entry.grant.fence > grant.fence);
}

type View = Pick<MemberState, 'isEstablished' | 'readiness' | 'isSilent'>;

function viewOf({ machine, node, heardAt }: ObservedMember, now: Date): View {
  return {
    isEstablished: isEstablished(machine, node),
    readiness: readinessOf(node),
    isSilent: !heardAt || +now - +heardAt > LEASE_SECONDS * 1000,
  };
}

/** A machine has at most one grant: this one is of the set, or of a repair or another set. */
export function isHolder(grant: LedgerGrant | undefined, set: string): boolean {
  return grant?.holder.kind === 'MachineComponentSet' && grant.holder.name === set;
}

function startedAt(
  { grant, machine }: ObservedMember,
  entries: readonly MachineComponentEntry[],
  { set, openBatch }: MembersContext,
): Date | undefined {
  const [entry] = entries;
  const assignment = entry?.assignment;
  if (!assignment) return undefined;
  const begun = batchStart(machine, entries, openBatch);
  if (!grant || !isHolder(grant, set)) return begun;
  const issuedAt = new Date(grant.issuedAt);
  if (grant.holder.revision === assignment.revision) return issuedAt;
  return progressAfter(begun ?? issuedAt, reportOf(machine, entry)) ?? begun;
}

/**
 * Returns when the agent last made progress with an update under the grant of the one that it replaced. A machine that goes back
 * is in no batch, and the time of its update may be over.
 */
function progressAfter(begun: Date, report: MachineComponentReport | undefined): Date | undefined {
  const progressed = parseTime(report?.since);
  return progressed && progressed > begun ? progressed : undefined;
}

/** The steps in which a machine is in service. One that waits for a restart still runs. */
const IN_SERVICE: ReadonlySet<MemberStep> = new Set(['Unassigned', 'Settled', 'NeedsGrant']);

/** Adds one check to the availability of every machine: while an update of it is in work, or has failed, it is out of service. */
function unavailableReason(
  input: AvailabilityInput,
  { isSilent }: View,
  { step, because }: Progress,
): string | undefined {
  const { unavailable } = availabilityOf(input, { by: 'Observation', isSilent });
  return unavailable ?? (IN_SERVICE.has(step) ? undefined : because);
}
