import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../../src/sync/git/http/objects.ts';

const OID = 'a'.repeat(40);

function committedAt(seconds: string): string {
  const person = `A <a@b> ${seconds} +0000`;
  const content = Buffer.from(`tree ${OID}\nauthor ${person}\ncommitter ${person}\n\nx\n`);
  return parseCommit(OID, { type: 'commit', content }).committedAt.toISOString();
}

describe('the time of a commit', () => {
  it.each([
    ['0', '1970-01-01T00:00:00.000Z'],
    ['253402300800', '9999-12-31T23:59:59.000Z'],
    ['9'.repeat(400), '9999-12-31T23:59:59.000Z'],
    [`-${'9'.repeat(30)}`, '0000-01-01T00:00:00.000Z'],
  ])('of %s seconds is written as RFC 3339 takes it: %s', (seconds, expected) => {
    expect(committedAt(seconds)).toBe(expected);
  });
});
