// Texts of others (names of tasks, files, what an engine says) on their way to a terminal.

/** Control characters in their escaped form, so that no text can move the cursor or forge a line. `keep`: those that are layout here. */
export function escapeControls(text: string, keep = ''): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => (keep.includes(character) ? character : escapeOne(character)));
}

function escapeOne(character: string): string {
  const named = JSON.stringify(character).slice(1, -1);
  return named.startsWith('\\') ? named : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
