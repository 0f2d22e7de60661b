import { describe, expect, it } from 'vitest';
import { excludedText } from '../../../../src/cli/commands/release/excluded.ts';

describe('excludedText', () => {
  it.each<[what: string, people: readonly string[], expected: string]>([
    [
      'the names of people, and not their keys',
      ['ann', 'ann@example.com', 'openpgp:12', 'sha256:34'],
      'The approval counts if it is pushed alone, and signed by another person than: ann, ann@example.com',
    ],
    [
      'no one where everybody could be an author',
      ['*', 'ann'],
      'No approval counts: not everybody who has part in these commits is known. Push a commit that changes the content again.',
    ],
    [
      'nobody where only keys are known',
      ['sha256:34'],
      'The approval counts if it is signed and pushed alone.',
    ],
    [
      'names without what a terminal would act on',
      ['an\u001B[31mn'],
      'The approval counts if it is pushed alone, and signed by another person than: an\\u001b[31mn',
    ],
  ])('S36 names %s before an approval is signed', (_, people, expected) => {
    expect(excludedText(people)).toBe(`${expected}\n`);
  });

  it('S36 names only the first of very many authors', () => {
    const many = Array.from({ length: 99 }, (_, index) => `name-${index}`);
    expect(excludedText(many)).toMatch(/name-19 and 79 more names\n$/);
  });
});
