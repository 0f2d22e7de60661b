/** Decides which paths the signers of a set may change. Pure. */

/** Tells whether a list of files and folders contains the path. An empty list contains all paths. */
export function isCovered(path: string, covered: readonly string[]): boolean {
  return covered.length === 0 || covered.some((each) => isWithin(path, normalized(each)));
}

function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** `./docs/` is `docs`, and `.` is everything. */
function normalized(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
