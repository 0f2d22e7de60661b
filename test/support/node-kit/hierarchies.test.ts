import { expect, it } from 'vitest';
import { hierarchiesIn } from './hierarchies.ts';

const V1 = '30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
const CPU = '31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct';
const CPUSET = '32 25 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset';
const NAMED = '33 25 0:29 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,xattr,name=systemd';
const UNIFIED = '34 25 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw';
const V2 = '34 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw';
const DOCKER = '30 25 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory';

it.each<[name: string, mounts: readonly string[], own: readonly string[], folders: readonly string[]]>([
  ['cgroup v2 alone: below the root', [V2], ['0::/user.slice/session-1.scope'], ['/sys/fs/cgroup']],
  [
    'v1 and v2 together',
    [V1, NAMED, UNIFIED],
    ['4:memory:/limited/x', '9:name=systemd:/', '0::/'],
    ['/sys/fs/cgroup/memory/limited/x', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified'],
  ],
  ['controllers that are mounted together', [CPU], ['1:cpu,cpuacct:/a'], ['/sys/fs/cgroup/cpu,cpuacct/a']],
  ['a mount of a part of the hierarchy', [DOCKER], ['4:memory:/docker/abc/x'], ['/sys/fs/cgroup/memory/x']],
  ['a mount of our own part', [DOCKER], ['4:memory:/docker/abc'], ['/sys/fs/cgroup/memory']],
  ['a cgroup outside of our view', [V1], ['4:memory:/../other'], ['/sys/fs/cgroup/memory']],
  ['a path with a colon', [V1], ['4:memory:/a:b'], ['/sys/fs/cgroup/memory/a:b']],
  ['what is not mounted here', [V1], ['5:pids:/', '4:memory:/', ''], ['/sys/fs/cgroup/memory']],
])('%s', (_name, mounts, own, folders) => {
  expect(hierarchiesIn(mounts.join('\n'), own.join('\n')).map(({ folder }) => folder)).toEqual(folders);
});

it('reports the hierarchy whose new cgroups have no CPU', () => {
  const found = hierarchiesIn([V1, CPUSET].join('\n'), '3:cpuset:/\n4:memory:/');
  expect(found.map(({ isCpuset }) => isCpuset)).toEqual([true, false]);
});
