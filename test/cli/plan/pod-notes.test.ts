import { expect, it } from 'vitest';
import { podCountText, podOutageText, RESERVED_BY_PODS } from '../../../src/cli/plan/pod-notes.ts';

it.each([
  [['apiServer.extraArgs'], false],
  [['scheduler.memoryMiB', 'apiServer.cpuMillis'], false],
  [['version'], true],
  [['etcd.quotaMiB'], true],
])('HOS-15 names the outage of etcd where %o changes, and only there', (fields, isNamed) => {
  const text = podOutageText(fields, 1, 1);
  expect(text).toMatch(/^its next API server answers before the former one ends/);
  expect(text.includes('nothing is served')).toBe(isNamed);
  expect(podOutageText(fields, 3, 1)).toContain('no outage is expected');
});

it('HOS-15 tells what pods of the cluster notice while an API server ends', () => {
  const noticed = /; pods of the cluster that connect by the Service kubernetes may be refused/;
  expect(podOutageText(['version'], 1, 1)).toMatch(noticed);
  expect(podOutageText(['version'], 3, 2)).toMatch(/^its 2 API servers are started one after the other: /);
  expect(podOutageText(['version'], 3, 2)).toMatch(noticed);
  expect(podCountText(3, 2)).toMatch(noticed);
  expect(podCountText(2, 3)).toBe('no outage is expected');
});

it('HOS-15 knows the requests of three members', () => {
  expect(Object.keys(RESERVED_BY_PODS)).toHaveLength(6);
});
