/**
 * Decides what Cluster API is shown of the acts and holds of kubenode: a hook without which it does not drain a machine, and a condition. A machine in
 * deletion gets no hook, so that a person who removes it there has the last word. Pure.
 */
import type { LedgerGrant, LedgerHolder, Machine, MachineHold } from '../../../../api/generated/types.ts';
import { isInFlight } from '../../../../api/grants.ts';
import { ownValue } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { firstMoment } from '../../../../os/dates.ts';
import { followedObject } from '../../../../providers/followed.ts';
import { ANNOTATION_DRAIN_HOOK, type ForeignMachine, type SteadyCondition } from '../contract.ts';
import { personHold } from '../remediation/replacement-hold.ts';

export interface DisruptionInput {
  readonly theirs: readonly ForeignMachine[];
  readonly machines: readonly Machine[];
  readonly nodeOf: (name: string) => KubeObject | undefined;
  readonly grants: Readonly<Record<string, LedgerGrant>>;
  readonly now: Date;
}

/** A write to one machine of theirs. */
export interface DisruptionWrite {
  readonly theirs: ForeignMachine;
  /** The value of the hook; null removes it; undefined leaves it as it is. */
  readonly hook?: string | null;
  /** Undefined: it is as it should be. */
  readonly condition?: SteadyCondition;
}

export interface DisruptionPlan {
  readonly writes: readonly DisruptionWrite[];
  /** When time alone changes the plan. */
  readonly changesAt: Date | undefined;
}

/** Why a machine is not to be drained. */
interface Disruption {
  readonly condition: SteadyCondition;
  readonly hook: string;
  /** The id of the grant of an act. */
  readonly grant?: string;
  readonly until: Date | undefined;
}

const STEADY: SteadyCondition = {
  status: 'True',
  reason: 'Steady',
  message: 'kubenode does nothing that disrupts this machine',
};

export function planDisruption(input: DisruptionInput): DisruptionPlan {
  const machines = Map.groupBy(input.machines, followedKey);
  const judged = input.theirs.map((theirs) => {
    const named = machines.get(`${theirs.namespace}/${theirs.name}`) ?? [];
    // More than one only while one goes, or a person has copied it.
    const same = named.filter((each) => followedObject(each)?.providerID === theirs.providerID);
    return {
      theirs,
      isFollowed: same.length > 0,
      disruption: firstOf(same, (each) => disruptionOf(each, input)),
      isHeld: same.some((each) => heldBy(each, input) !== undefined),
    };
  });
  return {
    writes: judged.flatMap((each) => writeFor(each, input)),
    changesAt: firstMoment(judged.map(({ disruption }) => disruption?.until)),
  };
}

interface Judged {
  readonly theirs: ForeignMachine;
  readonly isFollowed: boolean;
  readonly disruption: Disruption | undefined;
  /** Whether a person holds it, also beside an act. */
  readonly isHeld: boolean;
}

function followedKey(machine: Machine): string | undefined {
  const object = machine.spec.infra.provider === 'clusterapi' ? followedObject(machine) : undefined;
  return object && `${object.namespace}/${object.name}`;
}

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function disruptionOf(machine: Machine, input: DisruptionInput): Disruption | undefined {
  return actOn(machine, input) ?? holdOn(machine, input);
}

/** An act that is past its end keeps no machine: its deletion may be what a person wants then. */
function actOn({ metadata: { name } }: Machine, { grants, now }: DisruptionInput): Disruption | undefined {
  const grant = ownValue(grants, name);
  if (!grant || !isInFlight(grant) || !isShown(grant) || Date.parse(grant.notAfter) <= +now) return undefined;
  const { id, action, holder, issuedAt, notAfter } = grant;
  const act = `${action} for ${holderText(holder)} since ${issuedAt}`;
  return {
    condition: {
      status: 'False',
      reason: 'Disrupted',
      message: `${act}. More: kubenode why machine ${name}`,
    },
    hook: `${act}, ${grantMark(id)}`,
    grant: id,
    until: new Date(notAfter),
  };
}

/** The restart of a program by an update is over before a drain would begin; a job with that risk may drain the node. */
function isShown({ risk, holder }: LedgerGrant): boolean {
  return risk !== 'None' && (risk !== 'Pod' || holder.kind !== 'MachineComponentSet');
}

function holderText({ kind, name, origin }: LedgerHolder): string {
  return origin === undefined ? `${kind} ${name}` : `${kind} ${name} of ${origin}`;
}

/** The node works, and a person wants it kept as it is. */
function holdOn(machine: Machine, input: DisruptionInput): Disruption | undefined {
  const { name } = machine.metadata;
  const hold = heldBy(machine, input);
  if (!hold) return undefined;
  const message = `the machine is held: ${hold.reason}. To end it: kubenode machine release ${name}`;
  return {
    condition: { status: 'True', reason: 'Held', message },
    hook: `held: ${hold.reason}`,
    until: hold.until === undefined ? undefined : new Date(hold.until),
  };
}

function heldBy(machine: Machine, { nodeOf, now }: DisruptionInput): MachineHold | undefined {
  return personHold(machine, nodeOf(machine.metadata.name), now);
}

/** A machine that is not followed has neither the condition nor the hook of kubenode. */
function writeFor(judged: Judged, input: DisruptionInput): readonly DisruptionWrite[] {
  const { theirs, isFollowed, disruption } = judged;
  const hook = hookWrite(judged, input);
  const condition = isFollowed ? conditionWrite(theirs, disruption?.condition ?? STEADY) : undefined;
  if (hook === undefined && condition === undefined) return [];
  return [{ theirs, ...optional('hook', hook), ...optional('condition', condition) }];
}

function hookWrite(judged: Judged, input: DisruptionInput): DisruptionWrite['hook'] {
  const found = judged.theirs.annotations[ANNOTATION_DRAIN_HOOK];
  const desired = desiredHook(found, judged, input);
  return found === desired ? undefined : (desired ?? null);
}

function desiredHook(
  found: string | undefined,
  judged: Judged,
  { nodeOf }: DisruptionInput,
): string | undefined {
  const { theirs, isFollowed, disruption } = judged;
  // That of a machine of another cluster is of the kubenode there.
  if (!isFollowed) return nodeOf(theirs.node ?? '') ? undefined : found;
  if (!theirs.isDeleting) return disruption?.hook;
  return found !== undefined && keepsHook(found, judged) ? found : undefined;
}

/** A deletion waits for the act for which the hook was set and for a person, and for no later act. */
function keepsHook(found: string, { disruption, isHeld }: Judged): boolean {
  return isHeld || (disruption?.grant !== undefined && found.endsWith(grantMark(disruption.grant)));
}

function grantMark(id: string): string {
  return `grant ${id}`;
}

function conditionWrite(
  { steady, isDeleting, hasConditions }: ForeignMachine,
  desired: SteadyCondition,
): SteadyCondition | undefined {
  if (isDeleting || !hasConditions) return undefined;
  const fields = ['status', 'reason', 'message'] as const;
  return fields.every((field) => steady?.[field] === desired[field]) ? undefined : desired;
}
