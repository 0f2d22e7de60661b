/** Formats a preview as Markdown, for a comment on a pull request. Pure. */
import { htmlText, markdownBlock, markdownCode, markdownText } from '../../kube/objects/printable.ts';
import { groupRefusals } from '../judge/refusal-groups.ts';
import { fleetLimitTexts } from './fleet-limits.ts';
import type { Preview, TargetPreview } from './preview.ts';
import { describeTarget, summarizePreview, targetLines } from './text.ts';

export interface MarkdownOptions {
  /** The Pipeline that the plan is for. */
  readonly of?: string;
  /** The notes before the changes, such as closed windows. */
  readonly notes?: readonly string[];
  /** The size of the text: what does not fit is counted. Default: no limit. */
  readonly maxBytes?: number;
}

/** Formats a summary and a table, with the details folded. No line of it can be a command of a git host, such as `/close`. */
export function formatPreviewMarkdown(
  preview: Preview,
  { of, notes = [], maxBytes = Number.POSITIVE_INFINITY }: MarkdownOptions = {},
): string {
  const head = [
    `### kubenode plan${of === undefined ? '' : ` of ${markdownText(of)}`}: ${summarizePreview(preview)}`,
    '',
    `${markdownCode(preview.from)} → ${markdownCode(preview.to)}`,
    '',
  ];
  const tail = [`plan \`${preview.digest}\``, ''];
  const room = createRoom(maxBytes - sizeOf([...head, ...tail, ...TABLE]) - RESERVED_BYTES);
  const listed = room.fit(
    [
      ...notes.map((note) => [`- ${markdownText(note)}`]),
      ...refusedLines(preview),
      ...fleetLimitTexts(preview.fleetLimits).map((text) => [
        `- limits over clusters: ${markdownText(text)}`,
      ]),
    ],
    (count) => [`- and ${count} more`],
  );
  const rows = room.fit(
    preview.targets.map((target) => [rowOf(target)]),
    (count) => [`| and ${count} more |  |  |`],
  );
  const folded = room.fit(
    preview.targets.filter(({ units }) => units.length > 0).map((target) => foldedLines(target, maxBytes)),
    (count) => [`The details of ${count} targets are too long for a comment: run \`kubenode plan\`.`, ''],
  );
  const list = listed.length > 0 ? [...listed, ''] : [];
  return [...head, ...list, ...TABLE, ...rows, '', ...folded, ...tail].join('\n');
}

const TABLE = ['| target | changes | units |', '|---|---|---|'] as const;
/** The three lines that count what does not fit need this many bytes. */
const RESERVED_BYTES = 400;

function refusedLines({ refusals }: Preview): readonly string[][] {
  return groupRefusals(refusals).map(({ targets, object, message, source }) => [
    `- **refused** ${markdownCode(object)} of ${markdownText(targets)}: ${markdownText(message)} (${markdownCode(source)})`,
  ]);
}

function rowOf(target: TargetPreview): string {
  const units = markdownText(target.units.map(({ unit }) => unit).join(', '));
  return `| ${markdownText(target.target)} | ${markdownText(describeTarget(target))} | ${units || '–'} |`;
}

/** One target must not take the room of all others. */
const MAX_SHARE = 0.25;

function foldedLines(target: TargetPreview, maxBytes: number): readonly string[] {
  const lines = targetLines(target).slice(1);
  const shown = createRoom(maxBytes * MAX_SHARE).fit(
    lines.map((line) => [line]),
    (count) => [`and ${count} more lines`],
  );
  return [
    `<details><summary>${htmlText(`${target.target}: ${describeTarget(target)}`)}</summary>`,
    '',
    ...markdownBlock(shown),
    '</details>',
    '',
  ];
}

interface Room {
  /** Returns the lines of the blocks that fit, in their order, and a line that counts the others. */
  fit(blocks: readonly (readonly string[])[], more: (count: number) => readonly string[]): readonly string[];
}

function createRoom(bytes: number): Room {
  let left = bytes;
  return {
    fit(blocks, more) {
      const fitting = blocks.filter((block) => {
        const size = sizeOf(block);
        if (size > left) return false;
        left -= size;
        return true;
      });
      const omitted = blocks.length - fitting.length;
      return [...fitting.flat(), ...(omitted > 0 ? more(omitted) : [])];
    },
  };
}

/** Counts bytes, the line breaks included: hosts count characters, which are fewer. */
function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}
