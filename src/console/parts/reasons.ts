/** The API counts code points, of which a text never has more than units. */
export const reasonCharactersMax = 200;
