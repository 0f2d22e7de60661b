/** Shows the tree of a cluster to people. Pure. */
import type { CorrectedDrift } from '../../../api/generated/types.ts';
import { formatAge, shortCommit } from '../../text/age.ts';
import { listNames } from '../../text/list-names.ts';
import { healthText, incidentSentence } from '../cluster-health.ts';
import { type FrameSize, hubParagraph } from '../paragraph.ts';
import { driftLines, driftTitle } from './drift.ts';
import type { ClusterTree, TreeNode } from './tree.ts';

export function formatTree(tree: ClusterTree, size: FrameSize): string {
  const { name, state, stage, commit, since, because, pending = '' } = tree.cluster;
  // Objects are shown below, each with what it waits for.
  const incidents = tree.cluster.incidents.filter(({ reason }) => reason !== 'ObjectsUnhealthy');
  const where = [stage ? `stage ${stage}` : 'no stage', `commit ${shortCommit(commit)}`].join(', ');
  return [
    ...incidents.map((incident) => hubParagraph('', incidentSentence(incident), size)),
    incidents.length > 0 ? '\n' : '',
    hubParagraph('', `${name}: ${state} ${formatAge(since, size.now)}, ${where}`, size),
    hubParagraph('  ', `health: ${healthText(tree.cluster)}`, size),
    pending === '' ? '' : hubParagraph('  ', `not healthy yet: ${pending}`, size),
    because === '' ? '' : hubParagraph('  ', because, size),
    unblockLine('  ', tree.unblock, size),
    ...tree.conditions.map((node) => conditionText(node, size)),
    section('units', tree.units, size),
    section('objects', tree.objects, size),
    driftSection(tree.drift, size),
  ].join('');
}

function conditionText({ state, since, because }: TreeNode, size: FrameSize): string {
  return hubParagraph('  ', `${state} for ${formatAge(since, size.now)}: ${because}`, size);
}

function section(title: string, nodes: readonly TreeNode[], size: FrameSize): string {
  return nodes.length === 0 ? '' : `\n${title}\n${branches(nodes, size)}`;
}

function branches(nodes: readonly TreeNode[], size: FrameSize): string {
  return hang(
    nodes.map((node) => (inner) => `${nodeText(node, inner)}${branches(node.objects ?? [], inner)}`),
    size,
  );
}

function driftSection(drift: CorrectedDrift, size: FrameSize): string {
  const { objects = [] } = drift;
  if (objects.length === 0) return '';
  const rows = objects.map((row) => (inner: FrameSize) => {
    const [first, ...others] = driftLines(row, inner.now);
    return [hubParagraph('', first, inner), ...others.map((text) => hubParagraph('  ', text, inner))].join(
      '',
    );
  });
  return `\n${driftTitle(drift)}\n${hang(rows, size)}`;
}

/** Lines below the first one of each text stay right of its branch. */
function hang(texts: readonly ((inner: FrameSize) => string)[], size: FrameSize): string {
  return texts
    .map((textIn, index) => {
      const isLast = index === texts.length - 1;
      const margin = isLast ? '   ' : '│  ';
      const lines = textIn({ ...size, columns: size.columns - margin.length })
        .trimEnd()
        .split('\n');
      const start = isLast ? '└─ ' : '├─ ';
      return `${lines.map((line, at) => `${at === 0 ? start : margin}${line}`.trimEnd()).join('\n')}\n`;
    })
    .join('');
}

function nodeText({ names, count, state, since, because, unblock }: TreeNode, size: FrameSize): string {
  if (names.length === 0 && unblock === '') return hubParagraph('', because, size);
  const what = names.length === 0 ? `${count} more` : listNames(names);
  const age = since === undefined ? '' : ` ${formatAge(since, size.now)}`;
  return [
    hubParagraph('', `${what}: ${state}${age}`, size),
    because === '' ? '' : hubParagraph('  ', because, size),
    unblockLine('  ', unblock, size),
  ].join('');
}

function unblockLine(margin: string, text: string, size: FrameSize): string {
  return text === '' ? '' : hubParagraph(margin, `unblocks: ${text}`, size);
}
