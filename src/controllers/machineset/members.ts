/** The machines of a set as a plan reads them. Pure. */
import type { Machine, MachineHold, MachineSet } from '../../api/generated/types.ts';
import { availabilityOf } from '../../api/machine/availability.ts';
import { isKept } from '../../api/machine/kept.ts';
import { isEstablished } from '../../api/machine/node-state.ts';
import { type Condition, conditionOf, conditionStatus } from '../../kube/objects/conditions.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { type ReplacementMark, replacementMarkOf } from './scaling/replacement-mark.ts';
import { type TemplateDifferences, templateDifferences } from './template.ts';

export interface SetMachine {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
}

export interface Member extends SetMachine {
  readonly name: string;
  readonly zone?: string;
  readonly isDeleting: boolean;
  /** Whether it is deleted, and only its instance is kept: only the deletion of the set waits for it. */
  readonly isKept: boolean;
  readonly isReady: boolean;
  /** Why it is not available. Undefined: it is. */
  readonly unavailable?: string;
  /** It was Ready once; in doubt it was. */
  readonly isEstablished: boolean;
  /** Since when Node and agent answer. Undefined: they do not. */
  readonly answersSince?: Date;
  readonly hasFailedToStart: boolean;
  /** The same, or it is being deleted for that. */
  readonly failsToStart: boolean;
  readonly isStalled: boolean;
  readonly hold?: MachineHold;
  readonly differences: TemplateDifferences;
  /** Who wants it to be replaced. */
  readonly mark?: ReplacementMark;
  /** When time alone makes it available, or a failed start. */
  readonly changesAt?: Date;
}

export function memberOf(set: MachineSet, observed: SetMachine, now: Date): Member {
  const { machine, node } = observed;
  const { metadata, status } = machine;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const isReady = isTrue(machine, 'Ready');
  const wasReady = isEstablished(machine, node);
  const { minReadySeconds } = set.spec;
  const { unavailable, from } = availabilityOf({ ...observed, now }, { by: 'Report', minReadySeconds });
  const isStarting = !wasReady && !isReady && !isDeleting;
  const deadline = later(metadata.creationTimestamp, set.spec.startupTimeoutSeconds);
  const startsUntil = isStarting ? deadline : undefined;
  return {
    ...observed,
    name: metadata.name,
    ...optional('zone', zoneOf(machine)),
    isDeleting,
    isKept: isKept(machine),
    isReady,
    ...optional('unavailable', unavailable),
    isEstablished: wasReady,
    ...optional('answersSince', answersSince(status?.conditions)),
    hasFailedToStart: isReached(startsUntil, now),
    failsToStart: !wasReady && !isReady && isReached(deadline, now),
    isStalled: isTrue(machine, 'Stalled'),
    ...optional('hold', holdInForce(machine, node, now)),
    differences: templateDifferences(set, machine),
    ...optional('mark', replacementMarkOf(machine)),
    ...optional(
      'changesAt',
      [from, startsUntil].find((at) => at !== undefined && at > now),
    ),
  };
}

/** Returns the mark of a machine; undefined also when the machine came back after a job had marked it. */
export function markInForce({ mark, isReady }: Member): ReplacementMark | undefined {
  return mark?.isOnlyUnready === true && isReady ? undefined : mark;
}

export function isUpToDate(member: Member): boolean {
  return differingFields(member).length === 0;
}

/** Paths in the template that this machine does not match. */
export function differingFields({ differences: { inPlace, replacement } }: Member): readonly string[] {
  return [...new Set([...inPlace, ...replacement])];
}

const MAX_FIELDS = 16;

/** Returns the fields that the status names. */
export function differingFieldsOf(members: readonly Member[]): readonly string[] {
  return [...new Set(members.flatMap(differingFields))].toSorted().slice(0, MAX_FIELDS);
}

function zoneOf({ spec, status }: Machine): string | undefined {
  return spec.zone ?? status?.infra?.zone;
}

function answersSince(conditions: readonly Condition[] | undefined): Date | undefined {
  const types = ['AgentReady', 'NodeReady'];
  if (types.some((type) => conditionStatus(conditions, type) !== 'True')) return undefined;
  return new Date(Math.max(...types.map((type) => Date.parse(transitionOf(conditions, type) ?? ''))));
}

function isTrue({ status }: Machine, type: string): boolean {
  return conditionStatus(status?.conditions, type) === 'True';
}

function isReached(moment: Date | undefined, now: Date): boolean {
  return moment !== undefined && moment <= now;
}

function transitionOf(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  return conditionOf(conditions, type)?.lastTransitionTime;
}

function later(moment: string | undefined, seconds: number): Date | undefined {
  return moment === undefined ? undefined : new Date(Date.parse(moment) + seconds * 1000);
}
