/** Releases for people. Pure. */
import type { Release } from '../../../api/generated/types.ts';
import { listAt } from '../../../kube/objects/json.ts';
import { ageOf, shortCommit } from '../../age.ts';
import { count, said } from '../../fields.ts';
import { formatTable, type Table } from '../../output.ts';

export function releasesTable(releases: readonly Release[], now: Date): Table {
  return {
    columns: ['release', 'phase', 'stage', 'proven', 'age', 'subject', 'because'],
    rows: releases.map((release) => [
      release.metadata.name,
      said(release, 'status.phase', 'Pending'),
      said(release, 'status.stage', '-'),
      `${count(release, 'status.clusters.proven')}/${count(release, 'status.clusters.total')}`,
      ageOf(release.metadata.creationTimestamp, now),
      said(release, 'spec.subject'),
      said(release, 'status.waiting.message'),
    ]),
    empty: 'no releases: nothing was accepted yet',
  };
}

export function releaseText(release: Release, now: Date): string {
  return `${headText(release, now)}\n${stagesText(release, now)}${failuresText(release, now)}`;
}

function headText(release: Release, now: Date): string {
  const { metadata, spec } = release;
  const { plan } = spec;
  const revert = said(release, 'spec.revertOf');
  const waits = said(release, 'status.waiting.reason');
  const superseded = said(release, 'status.supersededBy');
  const lines = [
    `${metadata.name}: ${said(release, 'status.phase', 'Pending')}`,
    `  commit   ${spec.commit}${revert ? `, a revert of ${shortCommit(revert)}` : ''}`,
    `  subject  ${said(spec, 'subject', '-')} (${said(spec, 'author', 'unknown')}, ${ageOf(spec.committedAt, now)} ago)`,
    `  plan     ${plan.changed} of ${plan.clusters} clusters change, ${count(plan, 'deletes')} objects go, ${plan.digest}`,
    waits
      ? `  waits    ${waits} since ${ageOf(said(release, 'status.waiting.since'), now)}: ${said(release, 'status.waiting.message')}`
      : '',
    superseded ? `  superseded by ${superseded}` : '',
  ];
  return `${lines.filter(Boolean).join('\n')}\n`;
}

function stagesText(release: Release, now: Date): string {
  return formatTable({
    columns: ['stage', 'state', 'proven', 'failed', 'since', 'because'],
    rows: listAt(release, 'status', 'stages').map((stage) => stageRow(stage, now)),
    empty: 'no stage has looked at it yet',
  });
}

function stageRow(stage: unknown, now: Date): string[] {
  const since = said(stage, 'provenAt', said(stage, 'waiting.since', said(stage, 'startedAt')));
  const soak = said(stage, 'soakUntil');
  const soaks = said(stage, 'state') === 'Soaking' && soak ? `soaks until ${soak}` : '';
  return [
    said(stage, 'name'),
    said(stage, 'state'),
    `${count(stage, 'clusters.proven')}/${count(stage, 'clusters.total')}`,
    String(count(stage, 'clusters.failed')),
    ageOf(since, now),
    said(stage, 'waiting.message', soaks),
  ];
}

function failuresText(release: Release, now: Date): string {
  const failed = listAt(release, 'status', 'failedClusters');
  if (failed.length === 0) return '';
  const rows = failed.map((cluster) => [
    said(cluster, 'name'),
    said(cluster, 'stage', '-'),
    said(cluster, 'reason', '-'),
    ageOf(said(cluster, 'since'), now),
    said(cluster, 'message'),
  ]);
  return `\n${formatTable({ columns: ['failed cluster', 'stage', 'reason', 'since', 'message'], rows })}`;
}
