/** Finds the sha256 of a file in the checksum file of its publisher. Pure. */

const BARE = /^[0-9a-f]{64}$/i;
/** `DIGEST  NAME` of sha256sum, `DIGEST *NAME` for binary files. */
const LINE = /^(?<digest>[0-9a-f]{64}) [ *](?:\.\/)?(?<name>\S+)$/i;
/** The BSDs and `sha256sum --tag` write such lines. */
const TAGGED = /^SHA256 \((?:\.\/)?(?<name>[^)]+)\) = (?<digest>[0-9a-f]{64})$/i;

/**
 * The digest in lower case. A file with one digest and nothing else is about the file beside it. Undefined: the file is not listed, or is
 * listed with two digests. Lines of a signature round the list are skipped.
 */
export function checksumIn(text: string, fileName: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  const [only = ''] = filled;
  if (filled.length === 1 && BARE.test(only)) return only.toLowerCase();
  const digests = lines.flatMap((line) => {
    const { name, digest } = (LINE.exec(line) ?? TAGGED.exec(line))?.groups ?? {};
    return name === fileName && digest !== undefined ? digest.toLowerCase() : [];
  });
  return new Set(digests).size === 1 ? digests[0] : undefined;
}
