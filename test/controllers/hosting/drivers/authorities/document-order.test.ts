import { describe, expect, it } from 'vitest';
import type { SignedAuthorities } from '../../../../../src/api/authorities/document.ts';
import {
  nextOrder,
  publishedOrder,
} from '../../../../../src/controllers/hosting/drivers/authorities/document-order.ts';
import { documentOf, signedBy, testAuthority } from '../../../../support/authorities.ts';

const [OURS, OTHER] = [testAuthority('ours'), testAuthority('other')];
const DOCUMENT = documentOf([OURS], { cluster: 'uid-1', order: 7 });

describe('the order of the next document', () => {
  it.each<
    [
      what: string,
      last: readonly [signed: number, published: number],
      reported: readonly number[],
      expected: number,
    ]
  >([
    ['the first one', [0, 0], [], 1],
    ['after the last one', [4, 4], [4, 3], 5],
    ['after what is published, when the folder is that of a backup', [2, 6], [], 7],
    ['after what agents follow, when what is published was deleted as well', [0, 0], [6, 4], 7],
    ['after the last one, when nothing published is ours', [4, 0], [], 5],
    ['not after what no agent can have followed', [4, 4], [1005, Number.MAX_SAFE_INTEGER, 5], 6],
    ['at most so far ahead', [4, 4], [1004], 1005],
    ['as far ahead as agents follow what is published', [4, 10_004], [], 10_005],
    ['not after the highest one, which somebody with a former key has published', [4, 2 ** 53 - 1], [], 5],
  ])('HOS-22 is never that of an earlier document: %s', (_, [signed, published], reported, expected) => {
    expect(nextOrder({ signed, published, reported })).toBe(expected);
  });

  it.each<[what: string, published: SignedAuthorities | undefined, expected: number]>([
    ['nothing is published', undefined, 0],
    ['it is ours', signedBy([OURS], DOCUMENT), 7],
    ['one of several has signed it', signedBy([OTHER, OURS], DOCUMENT), 7],
    ['another one has signed it', signedBy([OTHER], DOCUMENT), 0],
    ['it is of another Cluster', signedBy([OURS], { ...DOCUMENT, cluster: 'uid-2' }), 0],
    [
      'its order was changed',
      { ...signedBy([OURS], DOCUMENT), document: JSON.stringify({ ...DOCUMENT, order: 8 }) },
      0,
    ],
    [
      'its signature cannot be read',
      { ...signedBy([OURS], DOCUMENT), signatures: JSON.stringify({ [OURS.sha256]: 'none' }) },
      0,
    ],
    ['it cannot be read', { document: 'x', signatures: '{}' }, 0],
  ])('HOS-22 counts a published document only when our key signed it: %s', (_, published, expected) => {
    const owner = { cluster: 'uid-1', authorities: [testAuthority('new').certPem, OURS.certPem] };
    expect(publishedOrder(published, owner)).toBe(expected);
  });
});
