import { describe } from 'vitest';
import { tempFolder } from '../../support/temp.ts';
import { describeTransport, type TransportBed } from './conformance.ts';

describe('the git command with a local path', { timeout: 60_000 }, () => {
  const root = tempFolder('file-root');
  describeTransport(
    (): TransportBed => ({
      name: 'file',
      root,
      optionsFor: (path) => ({ repository: `file://${root}/${path}` }),
      faults: [
        {
          name: 'no repository',
          code: 'NotFoundRepository',
          heal: () => undefined,
          arrange: () => ({ repository: `file://${root}` }),
        },
      ],
    }),
  );
});
