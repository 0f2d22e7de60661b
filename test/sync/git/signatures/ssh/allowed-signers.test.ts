import { describe, expect, it } from 'vitest';
import { parseAllowedSigners } from '../../../../../src/sync/git/signatures/ssh/allowed-signers.ts';

const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIHCq9ABHmi2Hf5fDDbnZwYgvfNs0cHU4Zhe3ISUPrRtZ';
const ED = `ssh-ed25519 ${KEY}`;

describe('parseAllowedSigners', () => {
  it.each<[name: string, line: string, expected: object]>([
    ['a plain line', `ann@example.com ${ED} a comment`, { principals: 'ann@example.com' }],
    ['more principals', `ann,*@example.com\t${ED}`, { principals: 'ann,*@example.com' }],
    ['a quoted principal', `"Ann Lee" ${ED}\r`, { principals: 'Ann Lee' }],
    ['a namespace of git', `ann namespaces="file,git" ${ED}`, { principals: 'ann' }],
    ['any namespace', `ann NAMESPACES="*" ${ED}`, { principals: 'ann' }],
    [
      'times, which are UTC with and without Z',
      `ann valid-after="20300102",valid-before="203001030405Z" ${ED}`,
      {
        principals: 'ann',
        validAfter: new Date('2030-01-02T00:00:00Z'),
        validBefore: new Date('2030-01-03T04:05:00Z'),
      },
    ],
  ])('S19 a file of signers reads %s', (_, line, expected) => {
    const { byKey, problems } = parseAllowedSigners(`# comment\n\n  ${line}\n`);
    expect({ keys: [...byKey], problems }).toEqual({ keys: [[KEY, [expected]]], problems: [] });
  });

  it('S19 ignores a key that is for other things than git', () => {
    expect(parseAllowedSigners(`ann namespaces="file" ${ED}`)).toEqual({ byKey: new Map(), problems: [] });
  });

  it('S19 keeps each line of a key that is listed more than once', () => {
    const { byKey } = parseAllowedSigners(`ann ${ED}\nann valid-after="20300101" ${ED}`);
    expect(byKey.get(KEY)).toHaveLength(2);
  });

  it.each([
    ['a line without a key', 'ann', 'is not of the form PRINCIPALS [OPTIONS] TYPE KEY'],
    [
      'an option that is not known',
      `ann verify-required ${ED}`,
      'has the option "verify-required", which is not known',
    ],
    [
      'an option that is not closed',
      `ann valid-before="2030 ${ED}`,
      'is not of the form PRINCIPALS [OPTIONS] TYPE KEY',
    ],
    [
      'a certificate authority',
      `ann cert-authority,namespaces="git" ${ED}`,
      'names a certificate authority, which is not supported: list the keys themselves',
    ],
    [
      'a month that does not exist',
      `ann valid-after="20301301" ${ED}`,
      'has an invalid time in valid-after: write YYYYMMDD or YYYYMMDDHHMM, in UTC',
    ],
    [
      'a day that does not exist',
      `ann valid-before="20300230" ${ED}`,
      'has an invalid time in valid-before: write YYYYMMDD or YYYYMMDDHHMM, in UTC',
    ],
    [
      'an empty time',
      `ann valid-before="" ${ED}`,
      'has an invalid time in valid-before: write YYYYMMDD or YYYYMMDDHHMM, in UTC',
    ],
    ['a key of another type than it names', `ann ssh-rsa ${KEY}`, 'has a key that is not of type ssh-rsa'],
    [
      'a line of 10,000 characters',
      `ann ${ED} ${'x'.repeat(10_000)}`,
      'is not of the form PRINCIPALS [OPTIONS] TYPE KEY',
    ],
  ])('S19 a file of signers does not use %s', (_, line, problem) => {
    expect(parseAllowedSigners(`\n${line}`)).toEqual({ byKey: new Map(), problems: [`line 2 ${problem}`] });
  });

  it('S19 reads 100,000 signers, and finds one of them', () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => {
      const key = Buffer.concat([Buffer.from(KEY, 'base64').subarray(0, 47), Buffer.alloc(4)]);
      key.writeUInt32BE(index, 47);
      return `person-${index}@example.com ssh-ed25519 ${key.toString('base64')}`;
    });
    const { byKey, problems } = parseAllowedSigners(lines.join('\n'));
    const last = lines.at(-1)?.split(' ')[2] ?? '';
    expect([byKey.size, problems, byKey.get(last)]).toEqual([
      100_000,
      [],
      [{ principals: 'person-99999@example.com' }],
    ]);
  });
});
