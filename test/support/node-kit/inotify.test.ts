import { mkdirSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { inotifyShortage, neededInstances, readInotifyUse } from './inotify.ts';
import { startNode } from './node.ts';

const SHORTAGE =
  '120 of 128 inotify instances of root are in use, and the node needs 10: stop other nodes and clusters, or run sysctl -w fs.inotify.max_user_instances=1024';

describe('instances of inotify', () => {
  it.each([
    [0, 128, false, undefined],
    [118, 128, false, undefined],
    [119, 128, false, expect.stringContaining('119 of 128')],
    [120, 128, false, SHORTAGE],
    [113, 128, true, undefined],
    [114, 128, true, expect.stringContaining('the node needs 15')],
  ])(
    'are enough for a node, or too few, with what to do: %i of %i, with a kubelet: %s',
    (used, limit, hasKubelet, expected) => {
      expect(inotifyShortage({ used, limit }, neededInstances(hasKubelet))).toEqual(expected);
    },
  );

  it('are counted over the processes of one user', () => {
    const proc = tempFolder('proc');
    mkdirSync(join(proc, 'sys/fs/inotify'), { recursive: true });
    writeFileSync(join(proc, 'sys/fs/inotify/max_user_instances'), '128\n');
    const links = {
      '1': ['anon_inode:inotify', '/dev/null'],
      '20': ['anon_inode:inotify'],
      self: ['anon_inode:inotify'],
    };
    for (const [pid, targets] of Object.entries(links)) {
      mkdirSync(join(proc, pid, 'fd'), { recursive: true });
      for (const [number, target] of targets.entries()) {
        symlinkSync(target, join(proc, pid, 'fd', String(number)));
      }
    }
    mkdirSync(join(proc, '30'));
    const uid = process.getuid?.() ?? 0;
    expect(readInotifyUse(proc, uid)).toEqual({ used: 2, limit: 128 });
    expect(readInotifyUse(proc, uid + 1)).toEqual({ used: 0, limit: 128 });
  });

  it('are counted on this machine', () => {
    const watcher = watch(tempFolder('watched'));
    try {
      expect(readInotifyUse('/proc', process.getuid?.()).used).toBeGreaterThan(0);
    } finally {
      watcher.close();
    }
  });

  it('are used up: a node does not boot, and the reason comes at once', async () => {
    const parts = {
      name: 'node-1',
      machine: 'none',
      address: '',
      root: '/none',
      bridge: 'none',
      consoleLog: '/none',
      binds: [],
    };
    const started = startNode(parts, () => ({ used: 120, limit: 128 }));
    await expect(started).rejects.toThrow(`node-1 cannot boot: ${SHORTAGE}`);
  });
});
