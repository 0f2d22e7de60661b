/** Shows the tree of a cluster to people. Pure. */
import { formatAge, shortCommit } from '../../../age.ts';
import { type FrameSize, hubParagraph } from '../paragraph.ts';
import { listNames } from '../watch/groups.ts';
import type { ClusterTree, TreeNode } from './tree.ts';

export function formatTree(tree: ClusterTree, size: FrameSize): string {
  const { name, state, stage, commit, since, because } = tree.cluster;
  const where = [stage ? `stage ${stage}` : 'no stage', `commit ${shortCommit(commit)}`].join(', ');
  return [
    hubParagraph('', `${name}: ${state} ${formatAge(since, size.now)}, ${where}`, size),
    because === '' ? '' : hubParagraph('  ', because, size),
    unblockLine('  ', tree.unblock, size),
    ...tree.conditions.map((node) => conditionText(node, size)),
    section('units', tree.units, size),
    section('objects', tree.objects, size),
  ].join('');
}

function conditionText({ state, since, because }: TreeNode, size: FrameSize): string {
  return hubParagraph('  ', `${state} for ${formatAge(since, size.now)}: ${because}`, size);
}

function section(title: string, nodes: readonly TreeNode[], size: FrameSize): string {
  return nodes.length === 0 ? '' : `\n${title}\n${branches(nodes, size)}`;
}

function branches(nodes: readonly TreeNode[], size: FrameSize): string {
  return nodes.map((node, index) => branch(node, index === nodes.length - 1, size)).join('');
}

/** Lines below the first one stay right of the branch. */
function branch(node: TreeNode, isLast: boolean, size: FrameSize): string {
  const margin = isLast ? '   ' : '│  ';
  const inner = { ...size, columns: size.columns - margin.length };
  const text = `${nodeText(node, inner)}${branches(node.objects ?? [], inner)}`;
  const lines = text.trimEnd().split('\n');
  return (
    lines
      .map((line, index) => `${index === 0 ? (isLast ? '└─ ' : '├─ ') : margin}${line}`.trimEnd())
      .join('\n') + '\n'
  );
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
