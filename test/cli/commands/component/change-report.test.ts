import { describe, expect, it } from 'vitest';
import { findInCatalog } from '../../../../src/cli/commands/component/catalog/catalog.ts';
import {
  type ChangeReport,
  formatByHand,
  printChange,
} from '../../../../src/cli/commands/component/change-report.ts';
import { testIo } from '../../../support/test-io.ts';

const REPORT: ChangeReport = {
  component: 'web',
  version: '1.0.0',
  files: [{ arch: 'amd64', url: 'https://example.com/web', sizeBytes: 7, sha256: 'a', checkedBy: undefined }],
  digests: { amd64: 'a' },
  source: {
    url: 'https://example.com/{arch}',
    checksums: undefined,
    architectures: ['amd64'],
    ownUrl: undefined,
  },
  edits: [{ path: 'a.ts', start: 0, end: 0, text: 'x', because: 'declares release 1.0.0' }],
  diff: 'the diff\n',
  isDryRun: false,
};

function print(report: Partial<ChangeReport>): { out: string; last: string | undefined; state: unknown } {
  const [text, json] = [testIo(), testIo()];
  printChange(text, 'table', { ...REPORT, ...report });
  printChange(json, 'json', { ...REPORT, ...report });
  const { state } = JSON.parse(json.stdout) as { state: unknown };
  return { out: text.stdout, last: text.stderr.trimEnd().split('\n').at(-1), state };
}

const refused = { because: 'of its form', hint: 'fix it' };

describe('printChange', () => {
  it.each([
    ['a change', {}, { out: 'the diff\n', last: 'changed a.ts: declares release 1.0.0', state: 'Changed' }],
    [
      'a dry run',
      { isDryRun: true },
      { out: 'the diff\n', last: 'would change a.ts: declares release 1.0.0', state: 'Planned' },
    ],
    [
      'nothing to do',
      { edits: [], diff: '' },
      { out: '', last: 'no change: web 1.0.0 is declared with these digests', state: 'Unchanged' },
    ],
    [
      'a file that was replaced',
      { edits: [], diff: '', refused: { ...refused, isDigestChanged: true as const } },
      { out: '', state: 'Refused' },
    ],
    [
      'another form',
      { edits: [], diff: '', refused },
      {
        out: expect.stringContaining("    '1.0.0': {\n      amd64: 'a',\n    },\n") as string,
        state: 'Refused',
      },
    ],
  ])('prints %s', (_, report, expected) => {
    expect(print(report)).toMatchObject(expected);
  });

  it('prints each file, and whether it was compared', () => {
    const io = testIo();
    const files = REPORT.files.map((file) => ({ ...file, checkedBy: 'https://example.com/SHA256SUMS' }));
    printChange(io, 'table', { ...REPORT, files });
    expect(io.stderr).toContain(
      'amd64: https://example.com/web\n  7 bytes, sha256 a\n  verified: the same sha256 is in https://example.com/SHA256SUMS\n  no signature of the publisher is known\n',
    );
  });

  it.each([
    ['kubelet', 'sig'],
    ['runc', 'asc'],
  ])('names the signature of the publisher that was not checked: %s', (component, extension) => {
    const url = findInCatalog(component)?.url ?? '';
    const source = { ...REPORT.source, url };
    const io = testIo();
    printChange(io, 'table', { ...REPORT, component, source });
    const expected = `the signature of the publisher was not checked: https://example.com/web.${extension}\n`;
    expect(io.stderr).toContain(expected);
    const json = testIo();
    printChange(json, 'json', { ...REPORT, component, source });
    expect(JSON.parse(json.stdout)).toMatchObject({
      files: [{ uncheckedSignature: `https://example.com/web.${extension}` }],
    });
    const own = testIo();
    printChange(own, 'table', { ...REPORT, component });
    expect(own.stderr).toContain('no signature of the publisher is known');
  });
});

describe('formatByHand', () => {
  it('contains the checksum file of an unknown publisher', () => {
    const source = { ...REPORT.source, checksums: '{url}.sha256' };
    expect(formatByHand({ ...REPORT, source })).toContain("  checksums: '{url}.sha256',\n");
  });
});
