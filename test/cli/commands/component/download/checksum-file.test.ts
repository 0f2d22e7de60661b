import { describe, expect, it } from 'vitest';
import { checksumIn } from '../../../../../src/cli/commands/component/download/checksum-file.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const NAME = 'runc.amd64';

describe('checksumIn', () => {
  it.each([
    ['one digest, as dl.k8s.io', `${A}\n`, A],
    ['one digest without a line break, in upper case', A.toUpperCase(), A],
    ['a line of sha256sum, as containerd', `${A}  ${NAME}\n`, A],
    ['a list, as SHA256SUMS', `${B}  runc.arm64\n${A}  ${NAME}\n`, A],
    ['a line of a binary file', `${A} *./${NAME}`, A],
    ['a tagged line', `SHA256 (${NAME}) = ${A}`, A],
    [
      'a list with a signature round it, as runc',
      `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n${B}  ${NAME}.asc\n${A}  ${NAME}\n-----BEGIN PGP SIGNATURE-----\n\nabc\n`,
      A,
    ],
    ['line ends of Windows', `${B}  other\r\n${A}  ${NAME}\r\n`, A],
    ['other files only', `${B}  ${NAME}.asc\n${B}  x${NAME}\n`, undefined],
    ['two digests of one file', `${A}  ${NAME}\n${B}  ${NAME}\n`, undefined],
    ['two bare digests', `${A}\n${B}\n`, undefined],
    ['a page', '<html>login</html>', undefined],
    ['a digest of sha512', `${A}${A}  ${NAME}`, undefined],
    ['nothing', '', undefined],
  ])('reads %s', (_, text, expected) => {
    expect(checksumIn(text, NAME)).toBe(expected);
  });
});
