/** docs/runbooks/denials.md has a section for each reason, in the order of precedence, to which denials link. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DENIALS_PAGE, denialsPage } from '../../scripts/denials-page.ts';
import { DENIALS, DENY_REASONS, denialPage } from '../../src/api/deny-reasons.ts';

const page = readFileSync(DENIALS_PAGE, 'utf8');

describe('the page of denials', () => {
  it('R29 has a section for each reason, in order of precedence, as `npm run generate` writes it', () => {
    expect(denialsPage(page)).toBe(page);
    expect([...page.matchAll(/^### (?<reason>\w+)$/gm)].map(({ groups }) => groups?.['reason'])).toEqual(
      DENY_REASONS,
    );
  });

  it.each(DENY_REASONS)('R29 tells what %s means, in a sentence', (reason) => {
    expect(DENIALS[reason].meaning).toMatch(/^[A-Z].{25,}\.$/);
  });

  it('R29 begins the section of a new reason with its hint, and keeps what is written by hand', () => {
    const [before = '', after = ''] = page.split(/(?<=^### Freeze\n)/m);
    const written = page.replace(
      '### Freeze\n',
      '### Freeze\nAn older meaning.\n\n**Do:** Ask.\n\nOr wait.\n\n### Gone\n',
    );
    expect(denialsPage(before + after.slice(after.indexOf('## ')))).toContain(
      `**Do:** ${DENIALS.Freeze.hint}.`,
    );
    expect(denialsPage(written)).toContain(
      `${DENIALS.Freeze.meaning}\n\n**Do:** Ask.\n\nOr wait.\n\n### RunsInto`,
    );
  });

  it('R29 is linked by the anchor that the page has for a reason', () => {
    expect(denialPage('APIErrors')).toBe('docs/runbooks/denials.md#apierrors');
  });
});
