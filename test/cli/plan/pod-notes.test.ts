import { expect, it } from 'vitest';
import { podOutageText, RESERVED_BY_PODS } from '../../../src/cli/plan/pod-notes.ts';

it.each([
  [['apiServer.extraArgs'], false],
  [['scheduler.memoryMiB', 'apiServer.cpuMillis'], false],
  [['version'], true],
  [['etcd.quotaMiB'], true],
])('HOS-15 names the outage of etcd where %o changes, and only there', (fields, isNamed) => {
  const text = podOutageText(fields, 1);
  expect(text).toMatch(/^its next API server answers before the former one ends/);
  expect(text.includes('nothing is served')).toBe(isNamed);
  expect(podOutageText(fields, 3)).toContain('no outage is expected');
});

it('HOS-15 knows the requests of three members', () => {
  expect(Object.keys(RESERVED_BY_PODS)).toHaveLength(6);
});
