/** Formats releases for people. Pure. */
import type { AuditApproval } from '../../api/audit/lines.ts';
import type { Pipeline, Release } from '../../api/generated/types.ts';
import { listAt } from '../../kube/objects/json.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { pipelineTrouble } from '../status/hub-objects.ts';
import { earlierGatesNote } from '../status/pipeline-notes.ts';
import { formatAge, shortCommit } from '../text/age.ts';
import { numberField, textField } from '../text/fields.ts';
import { formatTable, type Table } from '../text/table.ts';

export function createReleasesTable(releases: readonly Release[], now: Date): Table {
  return {
    columns: ['release', 'phase', 'stage', 'proven', 'age', 'subject', 'because'],
    rows: releases.map((release) => [
      release.metadata.name,
      textField(release, 'status.phase', 'Pending'),
      textField(release, 'status.stage', '-'),
      `${numberField(release, 'status.clusters.proven')}/${numberField(release, 'status.clusters.total')}`,
      formatAge(release.metadata.creationTimestamp, now),
      textField(release, 'spec.subject'),
      textField(release, 'status.waiting.message'),
    ]),
    empty: 'no releases: no commit has been accepted yet',
  };
}

/** Formats what a person is needed for, a line each. */
export function formatTrouble(trouble: readonly string[]): string {
  return trouble.map((each) => `a person is needed: ${printableLine(each)}\n`).join('');
}

export interface ReleaseContext {
  /** A Pipeline may be held up by what concerns no cluster, and so no stage. */
  readonly pipeline?: Pipeline;
  readonly approvals?: readonly AuditApproval[];
}

export function formatRelease(release: Release, now: Date, context: ReleaseContext = {}): string {
  return `${formatSummary(release, now, context)}\n${formatStages(release, now)}${formatFailures(release, now)}`;
}

function formatSummary(release: Release, now: Date, context: ReleaseContext): string {
  const { metadata, spec } = release;
  const { pipeline } = context;
  const trouble = pipeline && pipelineTrouble(pipeline);
  const gates = pipeline && earlierGatesNote(pipeline, spec.commit);
  const { plan } = spec;
  const revert = textField(release, 'spec.revertOf');
  const waiting = textField(release, 'status.waiting.reason');
  const superseded = textField(release, 'status.supersededBy');
  const lines = [
    `${metadata.name}: ${textField(release, 'status.phase', 'Pending')}`,
    `  commit   ${spec.commit}${revert ? `, a revert of ${shortCommit(revert)}` : ''}`,
    `  subject  ${textField(spec, 'subject', '-')} (${textField(spec, 'author', 'unknown')}, ${formatAge(spec.committedAt, now)} ago)`,
    ...signatureLines(release, context),
    `  plan     ${plan.changed} of ${plan.clusters} clusters change, ${numberField(plan, 'deletes')} objects deleted, ${plan.digest}`,
    ...planChanges(release).map((line) => `           ${line}`),
    waiting
      ? `  waiting  ${waiting} since ${formatAge(textField(release, 'status.waiting.since'), now)}: ${textField(release, 'status.waiting.message')}`
      : '',
    gates ? `  gates    ${gates}` : '',
    superseded ? `  superseded by ${superseded}` : '',
    trouble
      ? `  pipeline ${spec.pipeline}: ${trouble.reason} since ${formatAge(trouble.lastTransitionTime, now)}: ${trouble.message}`
      : '',
  ];
  return `${lines.filter(Boolean).map(printableLine).join('\n')}\n`;
}

/** Names only whom a verified signature proves: an author may be any text. */
function signatureLines({ spec }: Release, { approvals = [] }: ReleaseContext): readonly string[] {
  return [
    ...(spec.signer === undefined ? [] : [`  signed by ${spec.signer}`]),
    ...approvals.map(({ stage, by, commit, reason }) => {
      const who = by === undefined ? ', signature not verified' : ` by ${by}`;
      const where = commit === undefined ? 'commit unknown' : `commit ${shortCommit(commit)}`;
      return `  approved for ${stage}${who} (${where}): ${reason}`;
    }),
  ];
}

/** Lists what each stage changes, against what its clusters had when the Release was created. A line each. */
export function planChanges(release: Release): readonly string[] {
  return [...stagePlans(release)].map(([stage, plan]) => `${stage}: ${plan}`);
}

/** Returns what each stage changes, by its name. */
export function stagePlans({ spec }: Release): ReadonlyMap<string, string> {
  const plans = (spec.plan.stages ?? []).map((each) => {
    const [creates, updates, deletes] = (['creates', 'updates', 'deletes'] as const).map((field) =>
      numberField(each, field),
    );
    const objects = `objects: ${creates} created, ${updates} updated, ${deletes} deleted`;
    return [each.name, `${each.changed} of ${each.clusters} clusters change; ${objects}`] as const;
  });
  return new Map(plans);
}

function formatStages(release: Release, now: Date): string {
  return formatTable({
    columns: ['stage', 'state', 'proven', 'failed', 'since', 'because'],
    rows: listAt(release, 'status', 'stages').map((stage) => stageRow(stage, now)),
    empty: 'no stage has started it yet',
  });
}

function stageRow(stage: unknown, now: Date): string[] {
  const since = textField(
    stage,
    'provenAt',
    textField(stage, 'waiting.since', textField(stage, 'startedAt')),
  );
  const soakUntil = textField(stage, 'soakUntil');
  const soaking = textField(stage, 'state') === 'Soaking' && soakUntil ? `soaking until ${soakUntil}` : '';
  return [
    textField(stage, 'name'),
    textField(stage, 'state'),
    `${numberField(stage, 'clusters.proven')}/${numberField(stage, 'clusters.total')}`,
    String(numberField(stage, 'clusters.failed')),
    formatAge(since, now),
    textField(stage, 'waiting.message', soaking),
  ];
}

function formatFailures(release: Release, now: Date): string {
  const failed = listAt(release, 'status', 'failedClusters');
  if (failed.length === 0) return '';
  const rows = failed.map((cluster) => [
    textField(cluster, 'name'),
    textField(cluster, 'stage', '-'),
    textField(cluster, 'reason', '-'),
    formatAge(textField(cluster, 'since'), now),
    textField(cluster, 'message'),
  ]);
  return `\n${formatTable({ columns: ['failed cluster', 'stage', 'reason', 'since', 'message'], rows })}`;
}
