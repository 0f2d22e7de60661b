/**
 * Writes docs/runbooks/denials.md from src/api/deny-reasons.ts, as a part of `npm run generate`: a section for each reason with its
 * meaning. What to do is written by hand below it, and kept; a new reason begins with its hint.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DenialText } from '../src/api/denials/denial.ts';
import { DENIAL_GROUPS } from '../src/api/deny-reasons.ts';

export const DENIALS_PAGE = join(import.meta.dirname, '../docs/runbooks/denials.md');

const LATER = 'This version does not give this reason.';

/** Returns the page with the groups, reasons and meanings of the code, and with the text below them of this page. */
export function denialsPage(page: string): string {
  const [introduction = '', ...blocks] = page.split(/^(?=##)/m);
  const texts = new Map(
    blocks.map((block) => {
      const [head = '', ...lines] = block.split('\n');
      return [head, lines.join('\n').trim()] as const;
    }),
  );
  const sections = DENIAL_GROUPS.flatMap(({ title, reasons }) => [
    [`## ${title}`, texts.get(`## ${title}`) ?? ''].join('\n').trimEnd(),
    ...Object.entries<DenialText>(reasons).map(([reason, text]) => {
      const head = `### ${reason}`;
      const [, ...actions] = (texts.get(head) ?? '').split('\n\n');
      return `${head}\n${[text.meaning, actionOf(text, actions)].join('\n\n')}`;
    }),
  ]);
  return `${[introduction.trim(), ...sections].join('\n\n')}\n`;
}

function actionOf({ hint, later }: DenialText, written: readonly string[]): string {
  if (later) return LATER;
  const text = written.join('\n\n');
  return text.startsWith('**Do:** ') ? text : `**Do:** ${hint}.`;
}

if (import.meta.main) writeFileSync(DENIALS_PAGE, denialsPage(readFileSync(DENIALS_PAGE, 'utf8')));
