/** docs/runbooks/denials.md has a section for each reason, in the order of precedence, to which denials link. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DENY_REASONS, denialPage } from '../../src/api/deny-reasons.ts';
import { OF_LATER_VERSIONS } from './fixtures.ts';

const FILE = 'docs/runbooks/denials.md';
const sections = new Map(
  readFileSync(FILE, 'utf8')
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [name = '', ...text] = section.split(/\n## /)[0]?.split('\n') ?? [];
      return [name, text.join('\n').trim()] as const;
    }),
);
const LATER = 'This version does not give this reason.';

describe('the page of denials', () => {
  it('R29 has a section for each reason, in order of precedence', () => {
    expect([...sections.keys()]).toEqual(DENY_REASONS);
  });

  it.each(DENY_REASONS)('R29 tells what %s means and what to do, or that it is not given yet', (reason) => {
    const text = sections.get(reason) ?? '';
    expect(text.length).toBeGreaterThan(40);
    expect(text.includes(LATER)).toBe(OF_LATER_VERSIONS.includes(reason));
    expect(text.includes('**Do:** ')).toBe(!OF_LATER_VERSIONS.includes(reason));
  });

  it('R29 is linked by the anchor that the page has for a reason', () => {
    expect(denialPage('APIErrors')).toBe(`${FILE}#apierrors`);
  });
});
