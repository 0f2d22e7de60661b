import { describe, expect, it } from 'vitest';
import { mountsIn, parentIn, usersOf } from '../../../../../src/agent/host/systemd/directory/users.ts';

const SHIM = { pid: 20, parent: 1, directory: '/run/containerd/task/a' };
const CONTAINER = { pid: 21, parent: 20, directory: '/' };
const CHILD = { pid: 22, parent: 21, directory: '/' };
const OTHER = { pid: 30, parent: 1, directory: '/run/containerd-other' };
const ALL = [{ pid: 1, parent: 0, directory: '/' }, { pid: 2, parent: 0 }, SHIM, CONTAINER, CHILD, OTHER];

function line(path: string): string {
  return `36 35 98:0 / ${path} rw,noatime - tmpfs tmpfs rw`;
}

describe('usersOf', () => {
  it('finds those that work in the directory, with all that they started', () => {
    expect(usersOf(ALL, '/run/containerd', 99)).toEqual([20, 21, 22]);
    expect(usersOf(ALL, '/run/containerd/task/a', 99)).toEqual([20, 21, 22]);
    expect(usersOf(ALL, '/run/cont', 99)).toEqual([]);
  });

  it('spares this process and those above it, whatever directory they work in', () => {
    const shell = { pid: 40, parent: 1, directory: '/var/lib/kubelet' };
    const own = { pid: 41, parent: 40, directory: '/var/lib/kubelet' };
    const beside = { pid: 42, parent: 40, directory: '/' };
    expect(usersOf([...ALL, shell, own, beside], '/var/lib/kubelet', 41)).toEqual([]);
    expect(usersOf([...ALL, { ...SHIM, pid: 1, parent: 0 }], '/run/containerd', 22)).toEqual([]);
  });
});

describe('mountsIn', () => {
  it('returns those in the directory, the last mounted first, with the characters that they have', () => {
    const mountinfo = ['/', '/var/lib/kubelet', '/var/lib/kubelet/a\\040b', '/var/lib/kubelet2']
      .map((path) => line(path))
      .join('\n');
    expect(mountsIn(`${mountinfo}\n`, '/var/lib/kubelet')).toEqual([
      '/var/lib/kubelet/a b',
      '/var/lib/kubelet',
    ]);
    expect(mountsIn('', '/var/lib/kubelet')).toEqual([]);
  });
});

describe('parentIn', () => {
  it.each([
    ['12 (sh) S 7 12 12 0', 7],
    ['12 (a b) (c) R 1 12', 1],
    ['', 0],
  ])('%j has the parent %d', (stat, parent) => {
    expect(parentIn(stat)).toBe(parent);
  });
});
