/** A preview for people: in a terminal, and as a comment on a pull request. Pure. */
import type { Change, Preview, TargetPreview, UnitPreview } from './preview.ts';

const SIGNS: Record<Change['action'], string> = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '-',
  refused: '!',
};
const MAX_DETAILS = 12;

export function previewText(preview: Preview): string {
  const lines = [
    `${preview.from} → ${preview.to}: ${summaryOf(preview)}`,
    ...preview.refusals.map(
      ({ target, object, message, source }) => `! refused: ${object} of ${target}: ${message} [${source}]`,
    ),
    ...preview.targets.flatMap((target) => ['', ...targetLines(target)]),
    '',
    `plan ${preview.digest}`,
  ];
  return `${lines.join('\n')}\n`;
}

function targetLines(target: TargetPreview): string[] {
  return [`${target.target}  ${howKnown(target)}`, ...target.units.flatMap((unit) => unitLines(unit))];
}

function unitLines({ unit, changes, hold }: UnitPreview): string[] {
  return [
    `  ${unit}`,
    ...(hold
      ? [
          `    HELD: ${hold.because}`,
          `    to release it, acknowledge planDigest ${hold.planDigest} in the Pipeline`,
        ]
      : []),
    ...changes.flatMap((change) => [
      `    ${lineOf(change)}`,
      ...shownDetails(change).map((detail) => `        ${detail}`),
    ]),
  ];
}

function lineOf({ action, object, source }: Change): string {
  return `${SIGNS[action]} ${action.padEnd(7)} ${object}${source ? `  [${source}]` : ''}`;
}

function shownDetails({ details }: Change): string[] {
  const more = details.length - MAX_DETAILS;
  return more > 0 ? [...details.slice(0, MAX_DETAILS), `and ${more} more`] : [...details];
}

function howKnown({ by, because, units }: TargetPreview): string {
  const why = because ? ` (${because})` : '';
  if (by === 'unknown') return `unknown${why}`;
  const what = units.length === 0 ? 'no change' : countsOf(units.flatMap(({ changes }) => changes));
  return `${what}, ${by === 'live' ? 'asked the cluster' : `commit against commit${why}`}`;
}

function countsOf(changes: readonly Change[]): string {
  const words = (['create', 'update', 'replace', 'delete', 'refused'] as const).map((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return count > 0 ? `${count} ${action}` : '';
  });
  return words.filter(Boolean).join(', ') || 'no change';
}

export function summaryOf({ targets, refusals }: Preview): string {
  const changed = targets.filter(({ units }) => units.length > 0).length;
  const unknown = targets.filter(({ by }) => by === 'unknown').length;
  const held = targets.flatMap(({ units }) => units).filter(({ hold }) => hold).length;
  const parts = [
    refusals.length > 0 ? `REFUSED: ${refusals.length} objections` : '',
    `${changed} of ${targets.length} targets change`,
    countsOf(targets.flatMap(({ units }) => units.flatMap(({ changes }) => changes))),
    held > 0 ? `${held} units would be HELD` : '',
    unknown > 0 ? `${unknown} unknown` : '',
  ];
  return parts.filter(Boolean).join('; ');
}

/** The summary in sight, the details folded. */
export function previewMarkdown(preview: Preview): string {
  const rows = preview.targets.map(
    (target) =>
      `| ${target.target} | ${cell(howKnown(target))} | ${target.units.map(({ unit }) => unit).join(', ') || '–'} |`,
  );
  const refused = preview.refusals.map(
    ({ target, object, message, source }) =>
      `- **refused** \`${object}\` of ${target}: ${message} (\`${source}\`)`,
  );
  const folded = preview.targets
    .filter(({ units }) => units.length > 0)
    .flatMap((target) => [
      `<details><summary>${target.target}: ${howKnown(target)}</summary>`,
      '',
      '```',
      ...targetLines(target).slice(1),
      '```',
      '</details>',
      '',
    ]);
  return [
    `### kubenode plan: ${summaryOf(preview)}`,
    '',
    `\`${preview.from}\` → \`${preview.to}\``,
    '',
    ...refused,
    ...(refused.length > 0 ? [''] : []),
    '| target | changes | units |',
    '|---|---|---|',
    ...rows,
    '',
    ...folded,
    `plan \`${preview.digest}\``,
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
