import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { packOf } from '../../../../src/sync/git/push/pack.ts';
import { createNewObjects } from '../../../../src/sync/git/revert/new-objects.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('packOf', () => {
  it('writes objects of all sizes so that git reads them', () => {
    const folder = tempFolder('pack');
    execFileSync('git', ['init', '--quiet', '--bare', folder]);
    const objects = createNewObjects();
    const names = [0, 1, 2, 100, 3000].map((count) => {
      const entries = Array.from({ length: count }, (_, index) =>
        Buffer.concat([Buffer.from(`100644 f${String(index).padStart(5, '0')}\0`), Buffer.alloc(20, 7)]),
      );
      const content = Buffer.concat(entries);
      return { oid: objects.add('tree', content), size: content.byteLength };
    });
    execFileSync('git', ['unpack-objects', '-q'], { cwd: folder, input: packOf(objects.list()) });
    for (const { oid, size } of names) {
      const printed = execFileSync('git', ['cat-file', '-s', oid], { cwd: folder, encoding: 'utf8' });
      expect(Number(printed)).toBe(size);
    }
  });
});
