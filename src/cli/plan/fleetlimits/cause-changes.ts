/** Tells what a commit changes of what is held over clusters: what fails in several, and rollouts after too many failed. Pure. */
import { durationText } from '../../../api/elapsed.ts';
import type { FleetCommonCause, FleetFailedRollouts, FleetPolicySpec } from '../../../api/generated/types.ts';
import { numberChange, type PolicyFinding } from './policy-finding.ts';

type HeldSpec = Pick<FleetPolicySpec, 'commonCause' | 'failedRollouts'>;

export function causeChanges(before: HeldSpec = {}, after: HeldSpec = {}): readonly PolicyFinding[] {
  return [
    ...changed(before.commonCause, after.commonCause, {
      textOf: commonCauseText,
      between: commonCauseChanges,
    }),
    ...changed(before.failedRollouts, after.failedRollouts, {
      textOf: failedRolloutsText,
      between: failedRolloutsChanges,
    }),
  ];
}

interface Comparison<T> {
  readonly textOf: (value: T) => string;
  readonly between: (before: T, after: T) => readonly PolicyFinding[];
}

function changed<T>(
  before: T | undefined,
  after: T | undefined,
  { textOf, between }: Comparison<T>,
): readonly PolicyFinding[] {
  if (before && after) return between(before, after);
  if (after) return [{ effect: 'Tightened', text: `holds ${textOf(after)}` }];
  return before ? [{ effect: 'Loosened', text: `does not hold any more ${textOf(before)}` }] : [];
}

function commonCauseText({ clusters, withinSeconds }: FleetCommonCause): string {
  return `what fails in ${clusters} clusters in ${durationText(withinSeconds)}`;
}

function failedRolloutsText({ max, windowSeconds }: FleetFailedRollouts): string {
  return `new rollouts after ${max} failed in ${durationText(windowSeconds)}`;
}

function commonCauseChanges(before: FleetCommonCause, after: FleetCommonCause): readonly PolicyFinding[] {
  const added = after.ignored.filter((each) => !before.ignored.includes(each));
  const removed = before.ignored.filter((each) => !after.ignored.includes(each));
  return [
    ...numberChange('holds what fails in so many clusters:', [before.clusters, after.clusters], 'Loosened'),
    ...numberChange(
      'counts failures within',
      [before.withinSeconds, after.withinSeconds],
      'Tightened',
      durationText,
    ),
    ...numberChange('holds a cause for', [before.holdSeconds, after.holdSeconds], 'Tightened', durationText),
    ...added.map((cause): PolicyFinding => ({ effect: 'Loosened', text: `never holds ${cause}` })),
    ...removed.map((cause): PolicyFinding => ({ effect: 'Tightened', text: `may hold ${cause} again` })),
  ];
}

function failedRolloutsChanges(
  before: FleetFailedRollouts,
  after: FleetFailedRollouts,
): readonly PolicyFinding[] {
  return [
    ...numberChange('failed rollouts before none begins:', [before.max, after.max], 'Loosened'),
    ...numberChange(
      'counts failed rollouts within',
      [before.windowSeconds, after.windowSeconds],
      'Tightened',
      durationText,
    ),
  ];
}
