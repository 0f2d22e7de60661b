import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodePart,
  HOME,
  machineAddress,
  PAGES,
  type PageRoute,
  pageAddress,
  routeOf,
} from '../../../../src/console/state/pages/address.ts';

const REPAIRS: PageRoute = { page: 'repairs', filters: { cluster: 'eu-1' } };

it.each([
  ['m%2F1', 'm/1'],
  ['%', '%'],
])('decodes the part %s of a path as %s', (part, expected) => {
  expect(decodePart(part)).toBe(expected);
});

describe('routeOf', () => {
  it.each<[what: string, hash: string, before: PageRoute | undefined, expected: PageRoute]>([
    ['no address', '', undefined, HOME],
    ['a page', '#/limits', undefined, { page: 'limits', filters: {} }],
    [
      'filters',
      '#/fleet?by=pool&show=trouble&cluster=eu-1',
      undefined,
      { page: 'fleet', filters: { by: 'pool', show: 'trouble', cluster: 'eu-1' } },
    ],
    ['filters that do not exist', '#/fleet?by=color&show=&x=1', undefined, HOME],
    ['a page that does not exist', '#/nodes', REPAIRS, HOME],
    ['a machine', '#/machines/prod/m-17', undefined, { ...HOME, machine: 'prod/m-17' }],
    ['a machine over a page', '#/machines/prod/m-17', REPAIRS, { ...REPAIRS, machine: 'prod/m-17' }],
    [
      'another machine over it',
      '#/machines/a/b',
      { ...REPAIRS, machine: 'x/y' },
      { ...REPAIRS, machine: 'a/b' },
    ],
    [
      'a page instead of a machine',
      '#/health',
      { ...REPAIRS, machine: 'x/y' },
      { page: 'health', filters: {} },
    ],
    ['a machine without a cluster', '#/machines/m-17', REPAIRS, HOME],
    ['an address that does not decode', '#/machines/prod/%', undefined, { ...HOME, machine: 'prod/%' }],
  ])('reads %s', (_, hash, before, expected) => {
    expect(routeOf(hash, before)).toEqual(expected);
  });

  it('CON-02 reads each address of a page and of a machine as it was written, whatever the names', () => {
    const cluster = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(fc.constantFrom(...PAGES), cluster, (page, name) => {
        expect(routeOf(pageAddress(page, { cluster: name }))).toEqual({ page, filters: { cluster: name } });
        expect(routeOf(machineAddress(`prod/${name}`), HOME).machine).toBe(`prod/${name}`);
      }),
    );
  });
});
