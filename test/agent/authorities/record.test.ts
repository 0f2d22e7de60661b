import { describe, expect, it } from 'vitest';
import { formatRecord, parseFollowed } from '../../../src/agent/authorities/record.ts';
import type { FollowedAuthorities } from '../../../src/agent/authorities/verify.ts';
import { AUTHORITIES_FILE } from '../../../src/agent/layout.ts';
import { formatDocument } from '../../../src/api/authorities/document.ts';
import { documentOf, testAuthority } from '../../support/authorities.ts';

const OLD = testAuthority('old');
const DOCUMENT = documentOf([OLD]);
const FOLLOWED: FollowedAuthorities = {
  ...DOCUMENT,
  text: formatDocument(DOCUMENT),
  isApplied: true,
  changedAt: '2030-01-01T00:00:00.000Z',
  joinedWith: 'digest',
  outdated: ['boot-1 7 100'],
};

function changed(parts: object): string {
  return JSON.stringify({ ...(JSON.parse(formatRecord(FOLLOWED)) as object), ...parts });
}

describe('the record of what an agent has followed', () => {
  it('HOS-22 is read as it was written, with the document in its signed text only', () => {
    expect(parseFollowed(formatRecord(FOLLOWED))).toEqual({ followed: FOLLOWED });
    const { outdated: _, ...first } = FOLLOWED;
    expect(parseFollowed(formatRecord(first))).toEqual({ followed: first });
    expect(JSON.parse(formatRecord(FOLLOWED))).toMatchObject({ format: 1 });
    expect(JSON.parse(formatRecord(FOLLOWED))).not.toHaveProperty('order');
  });

  it.each<[what: string, content: string, because: string]>([
    ['text', 'text', 'it is not a JSON object'],
    ['a list', '[]', 'it is not a JSON object'],
    ['no format', changed({ format: undefined }), 'expected format 1'],
    ['a later format', changed({ format: 2 }), 'expected format 1'],
    ['no text', changed({ text: undefined }), 'a field is missing'],
    ['no state', changed({ isApplied: 'yes' }), 'a field is missing'],
    ['a time that cannot be read', changed({ changedAt: 'today' }), 'a field is missing'],
    ['no CA', changed({ joinedWith: 1 }), 'a field is missing'],
    ['kubelets that are numbers', changed({ outdated: [1] }), 'a field is missing'],
    ['a document that was cut', changed({ text: FOLLOWED.text.slice(1) }), 'the document is not one'],
  ])('HOS-22 is not used when it is damaged: %s', (_, content, because) => {
    const record = parseFollowed(content);
    const problem = 'problem' in record ? record.problem : '';
    expect(problem).toContain(`${AUTHORITIES_FILE} cannot be used: ${because}`);
    expect(problem).toContain('the CA is kept. Hint: join the host again');
  });
});
