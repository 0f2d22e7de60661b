import { expect, it } from 'vitest';
import { planMirror } from '../../../../src/cli/commands/mirror/plan.ts';

const artifact = (sha256: string, url: string, fields = {}): object => ({
  os: 'linux',
  arch: 'amd64',
  url,
  sha256,
  ...fields,
});

it('plans one entry for each content, with all of its URLs, in a fixed order', () => {
  const specs = [
    { component: 'web', version: '2', artifacts: [artifact('b', 'http://a/b', { mirrors: ['http://m/b'] })] },
    { component: 'base', version: '1' },
    {
      component: 'web',
      version: '1',
      artifacts: [
        artifact('b', 'oci://r/b', { sizeBytes: 7 }),
        artifact('a', 'http://a/a', { arch: 'arm64' }),
      ],
    },
  ] as Parameters<typeof planMirror>[0];
  const expected = [
    { sha256: 'a', usedBy: ['web 1'], platform: { os: 'linux', arch: 'arm64' }, urls: ['http://a/a'] },
    {
      sha256: 'b',
      usedBy: ['web 2', 'web 1'],
      platform: { os: 'linux', arch: 'amd64' },
      urls: ['http://a/b', 'http://m/b', 'oci://r/b'],
      sizeBytes: 7,
    },
  ];
  expect(planMirror(specs)).toEqual(expected);
  expect(planMirror([]).length).toBe(0);
});
