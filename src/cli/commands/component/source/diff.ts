/** Formats edits as a unified diff, which `git apply` accepts. Pure. */
import type { FleetFile } from './declarations.ts';
import type { SourceEdit } from './plan.ts';

/** Lines around a change, as git prints. */
const CONTEXT = 3;

interface LineChange {
  /** Index of the first line that is replaced, and of the first that is not. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

export function formatDiff({ path, text }: FleetFile, edits: readonly SourceEdit[]): string {
  if (edits.length === 0) return '';
  const lines = linesOf(text);
  const hunks: LineChange[][] = [];
  for (const change of edits.map((edit) => changeOf(text, lines, edit))) {
    const open = hunks.at(-1);
    const last = open?.at(-1);
    if (open && last && change.from - last.to <= 2 * CONTEXT) open.push(change);
    else hunks.push([change]);
  }
  let shift = 0;
  const parts = hunks.map((hunk) => {
    const part = formatHunk(lines, hunk, { shift, endsWithBreak: text.endsWith('\n') });
    shift += hunk.reduce((sum, { from, to, lines: added }) => sum + added.length - (to - from), 0);
    return part;
  });
  return `--- a/${path}\n+++ b/${path}\n${parts.join('')}`;
}

interface HunkPlace {
  /** How many more lines the new file has before the hunk. */
  readonly shift: number;
  readonly endsWithBreak: boolean;
}

function formatHunk(
  lines: readonly string[],
  changes: readonly LineChange[],
  { shift, endsWithBreak }: HunkPlace,
): string {
  const from = Math.max(0, (changes[0]?.from ?? 0) - CONTEXT);
  const to = Math.min(lines.length, (changes.at(-1)?.to ?? 0) + CONTEXT);
  const body: string[] = [];
  let at = from;
  for (const change of changes) {
    body.push(...lines.slice(at, change.from).map((line) => ` ${line}`));
    body.push(...lines.slice(change.from, change.to).map((line) => `-${line}`));
    body.push(...change.lines.map((line) => `+${line}`));
    at = change.to;
  }
  body.push(...lines.slice(at, to).map((line) => ` ${line}`));
  const added = body.filter((line) => !line.startsWith('-')).length;
  if (to === lines.length && !endsWithBreak) body.push('\\ No newline at end of file');
  const head = `@@ -${from + 1},${to - from} +${from + 1 + shift},${added} @@`;
  return [head, ...body].map((line) => `${line}\n`).join('');
}

/** Whole lines that are inserted replace none; any other edit replaces the lines that it touches. */
function changeOf(text: string, lines: readonly string[], edit: SourceEdit): LineChange {
  const from = lineOf(text, edit.start);
  const isWhole = edit.start === edit.end && edit.text.endsWith('\n') && text[edit.start - 1] === '\n';
  if (isWhole) return { from, to: from, lines: linesOf(edit.text) };
  const to = lineOf(text, edit.end) + 1;
  const start = text.lastIndexOf('\n', edit.start - 1) + 1;
  const touched = lines.slice(from, to).join('\n');
  const changed = touched.slice(0, edit.start - start) + edit.text + touched.slice(edit.end - start);
  return { from, to, lines: linesOf(changed) };
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length - 1;
}

/** A carriage return stays part of its line. */
function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}
