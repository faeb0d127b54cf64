/** Next to nothing: what importing costs at least. */
export default 0
