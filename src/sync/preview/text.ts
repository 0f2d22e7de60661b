/** Formats a preview for people, for a terminal. Pure. */
import { printableLine } from '../../kube/objects/printable.ts';
import { groupRefusals } from '../judge/refusal-groups.ts';
import { fleetLimitTexts, summarizeFleetLimits } from './fleet-limits.ts';
import { formatTargetDeployments } from './machine-deployments.ts';
import type { Preview, PreviewChange, TargetPreview, UnitPreview } from './preview.ts';
import { formatTargetRollouts } from './rollouts.ts';

const SIGNS: Record<PreviewChange['action'], string> = {
  create: '+',
  adopt: '&',
  update: '~',
  replace: '±',
  delete: '-',
  release: '○',
  held: '!',
  refused: '!',
};
const MAX_DETAILS = 12;

export function formatPreview(preview: Preview): string {
  const lines = [
    `${preview.from} → ${preview.to}: ${summarizePreview(preview)}`,
    ...groupRefusals(preview.refusals).map(
      ({ targets, object, message, source }) => `! refused: ${object} of ${targets}: ${message} [${source}]`,
    ),
    ...fleetLines(preview),
    ...preview.targets.flatMap((target) => ['', ...targetLines(target)]),
    '',
    `plan ${preview.digest}`,
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}

function fleetLines({ fleetLimits }: Preview): readonly string[] {
  const texts = fleetLimitTexts(fleetLimits);
  return texts.length > 0 ? ['', 'limits over clusters', ...texts.map((text) => `  ${text}`)] : [];
}

/** Formats one target, its name first. */
export function targetLines(target: TargetPreview): string[] {
  return [
    `${target.target}  ${describeTarget(target)}`,
    ...target.units.flatMap((unit) => unitLines(unit)),
    ...formatTargetRollouts(target.rollouts),
    ...formatTargetDeployments(target.deployments),
  ];
}

function unitLines({ unit, changes, hold }: UnitPreview): string[] {
  return [
    `  ${unit}`,
    ...(hold
      ? [
          `    HELD: ${hold.because}`,
          `    To release it, acknowledge planDigest ${hold.planDigest} in the Pipeline`,
        ]
      : []),
    ...changes.flatMap((change) => [
      `    ${lineOf(change)}`,
      ...shownDetails(change).map((detail) => `        ${detail}`),
    ]),
  ];
}

function lineOf({ action, object, source }: PreviewChange): string {
  return `${SIGNS[action]} ${action.padEnd(7)} ${object}${source ? `  [${source}]` : ''}`;
}

function shownDetails({ details }: PreviewChange): string[] {
  const more = details.length - MAX_DETAILS;
  return more > 0 ? [...details.slice(0, MAX_DETAILS), `and ${more} more`] : [...details];
}

export function describeTarget({ by, because, units }: TargetPreview): string {
  const suffix = because ? ` (${because})` : '';
  if (by === 'unknown') return `unknown${suffix}`;
  const counts = units.length === 0 ? 'no change' : countsOf(units.flatMap(({ changes }) => changes));
  return by === 'live' ? `${counts}, checked in the cluster` : `${counts} from commit to commit${suffix}`;
}

function countsOf(changes: readonly PreviewChange[]): string {
  const words = (
    ['create', 'adopt', 'update', 'replace', 'delete', 'release', 'held', 'refused'] as const
  ).map((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return count > 0 ? `${count} ${action}` : '';
  });
  return words.filter(Boolean).join(', ') || 'no change';
}

export function summarizePreview({ targets, refusals, fleetLimits }: Preview): string {
  const changed = targets.filter(({ units }) => units.length > 0).length;
  const unknown = targets.filter(({ by }) => by === 'unknown').length;
  const held = targets.flatMap(({ units }) => units).filter(({ hold }) => hold).length;
  const parts = [
    refusals.length > 0 ? `REFUSED: ${refusals.length} refusals` : '',
    `${changed} of ${targets.length} targets change`,
    countsOf(targets.flatMap(({ units }) => units.flatMap(({ changes }) => changes))),
    held > 0 ? `${held} units would be HELD` : '',
    unknown > 0 ? `${unknown} unknown` : '',
    summarizeFleetLimits(fleetLimits),
  ];
  return parts.filter(Boolean).join('; ');
}
