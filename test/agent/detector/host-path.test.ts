import { expect, it } from 'vitest';
import { pathInHost, pathOnDisk } from '../../../src/agent/detector/host-path.ts';

it.each([
  ['/', '/var/log/kern.log', '/var/log/kern.log', '/var/log/kern.log'],
  ['/srv/m1', '/var/log/kern.log', '/var/log/kern.log', '/srv/m1/var/log/kern.log'],
  ['/srv/m1', '/srv/m1/var/log/kern.log', '/var/log/kern.log', '/srv/m1/var/log/kern.log'],
  ['/srv/m1', '/srv/m10/var/log/kern.log', '/srv/m10/var/log/kern.log', '/srv/m1/srv/m10/var/log/kern.log'],
])('finds in the host %s the file %s', (directory, path, inHost, onDisk) => {
  expect(pathInHost({ directory }, path)).toBe(inHost);
  expect(pathOnDisk({ directory }, path)).toBe(onDisk);
});
